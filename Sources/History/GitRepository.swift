import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why git could not be asked. What it would have told is then not known, and nothing is wrong.
package struct GitError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case notInstalled
    /// The folder is in no repository, or in one without a working tree.
    case notARepository
    /// The repository belongs to another user (`safe.directory`).
    case refused
    case failed
  }

  package let kind: Kind
  /// For the end of a sentence: `git is not installed`.
  package let message: String
}

/// A file of a commit's folder.
package struct GitFile: Sendable, Hashable {
  package let name: String
  /// Of the blob, in hexadecimal.
  let object: String
  /// A symbolic link: the blob holds where it leads.
  package let isLink: Bool
}

/// A text that a file once had.
package struct FrozenText: Sendable, Hashable {
  package let bytes: [UInt8]
  /// The newest commit that brought it.
  package let commit: String
  /// From the top of the repository.
  package let path: String
}

/// The git repository that a folder is in, as the `git` program answers.
///
/// It reads only: no lock is taken, no hook, pager or network is used, nobody is asked for anything.
package struct GitRepository: Sendable, Hashable {
  /// Names given to git are relative to it.
  package let folder: String
  /// The folder's path from the top of the working tree: empty, or ending in `/`.
  package let prefix: String
  /// Older commits than some are not here.
  package let isShallow: Bool

  /// - Throws: why there is nothing to ask.
  package init(containing folder: String) throws(GitError) {
    self.folder = folder
    let answer = try Self.ask(
      folder, ["rev-parse", "--is-inside-work-tree", "--show-prefix", "--is-shallow-repository"])
    // A folder's name may hold line ends.
    let lines = answer.split(separator: lineFeed, omittingEmptySubsequences: false)
    guard lines.count >= 4, lines[0].elementsEqual("true".utf8) else {
      throw GitError(kind: .notARepository, message: "\(folder) is in no working tree of git")
    }
    let middle = lines[1..<(lines.count - 2)].joined(separator: [lineFeed])
    prefix = String(decoding: Array(middle), as: UTF8.self)
    isShallow = lines[lines.count - 2].elementsEqual("true".utf8)
  }

  // MARK: Commits

  /// The commit that a revision names, nil when it names none.
  package func commit(_ revision: String) throws(GitError) -> String? {
    // Git would take it for an option.
    guard !revision.hasPrefix("-") else { return nil }
    // With 128 it says no to what only people name, like a reflog's entry that is not there.
    let isOurs = ["HEAD", "MERGE_HEAD"].contains(revision)
    return try line(
      ["rev-parse", "--verify", "--quiet", revision + "^{commit}"], no: isOurs ? [1] : [1, 128])
  }

  /// Whether git cannot tell which commit a revision means: a name that a tag and a branch have, or an
  /// abbreviated hash that fits several commits. Git itself would take the tag.
  ///
  /// - Returns: the references of that name, by their full names, which are unambiguous; nil for a
  ///   revision that means one commit, or none.
  package func ambiguity(of revision: String) throws(GitError) -> [String]? {
    guard !revision.hasPrefix("-") else { return nil }
    // Only without --quiet does git say so.
    let result = try Self.run(
      folder, ["rev-parse", "--verify", revision + "^{commit}"], input: [])
    guard String(decoding: result.errors, as: UTF8.self).contains(" is ambiguous") else {
      return nil
    }
    let name = revision.prefix { !"~^@:".contains($0) }
    let names = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].map { $0 + name }
    let found = try answer(["for-each-ref", "--format=%(refname)"] + names)
      .split(separator: lineFeed).map { String(decoding: $0, as: UTF8.self) }
    return found.filter { names.contains($0) || $0 == "refs/remotes/\(name)/HEAD" }
  }

  /// The best common ancestor, nil when there is none here.
  package func mergeBase(_ a: String, _ b: String) throws(GitError) -> String? {
    try line(["merge-base", a, b], no: [1])
  }

  /// The other side of a merge that has begun and not ended.
  package func mergeHead() throws(GitError) -> String? { try commit("MERGE_HEAD") }

  // MARK: Files

  /// What the folder held in a commit; nothing when it was not there.
  ///
  /// - Parameter path: another folder than ours, from the top of the repository, ending in `/`.
  package func files(
    in commit: String, ofFolder path: String? = nil
  ) throws(GitError) -> [GitFile] {
    let tree = path.map { ["--full-tree", "\(commit):\($0)"] } ?? [commit]
    return try answer(["ls-tree", "-z"] + tree).fields.compactMap(GitFile.init)
  }

  /// Whether a commit has a folder.
  ///
  /// - Parameter path: from the top of the repository, ending in `/`; nil is ours, which is asked
  ///   for without its name.
  func holds(_ path: String?, in commit: String) throws(GitError) -> Bool {
    guard let path else { return true }
    return try line(["rev-parse", "--verify", "--quiet", "\(commit):\(path)"], no: [1, 128]) != nil
  }

  /// The folder in which a commit had its history lock, where that is another one and not there any
  /// more; from the top of the repository, ending in `/`.
  package func formerFolder(in commit: String) throws(GitError) -> String? {
    let paths = try locks(in: commit).filter { !isThere($0) }
    return paths.count == 1 ? String(paths[0].dropLast(HistoryLock.fileName.count)) : nil
  }

  /// The history locks of a commit, wherever they are; from the top of the repository.
  package func locks(in commit: String) throws(GitError) -> [String] {
    let name = HistoryLock.fileName
    return try answer(["ls-tree", "-z", "-r", "--name-only", "--full-tree", commit]).fields
      .map { String(decoding: $0, as: UTF8.self) }
      .filter { $0 == name || $0.hasSuffix("/" + name) }
  }

  /// - Parameter path: from the top of the repository.
  private func isThere(_ path: String) -> Bool {
    let depth = prefix.utf8.count { $0 == UInt8(ascii: "/") }
    let place = joinedPath(folder, String(repeating: "../", count: depth) + path)
    return (try? somethingExists(at: place)) ?? true
  }

  package func contents(of files: [GitFile]) throws(GitError) -> [[UInt8]?] {
    try blobs(files.map(\.object))
  }

  /// The stages of a file whose merge is in conflict: 1 is what both come from, 2 ours, 3 theirs.
  package func conflict(in name: String) throws(GitError) -> [Int: [UInt8]] {
    var objects: [Int: String] = [:]
    for field in try answer(["ls-files", "-u", "-z", "--", "./" + name]).fields {
      let words = field.prefix { $0 != UInt8(ascii: "\t") }.split(separator: UInt8(ascii: " "))
      guard words.count == 3, let stage = Int(String(decoding: words[2], as: UTF8.self)) else {
        continue
      }
      objects[stage] = String(decoding: words[1], as: UTF8.self)
    }
    let stages = objects.keys.sorted()
    let blobs = try blobs(stages.compactMap { objects[$0] })
    return Dictionary(
      uniqueKeysWithValues: zip(stages, blobs).compactMap { stage, bytes in
        bytes.map { (stage, $0) }
      })
  }

  /// The values of attributes by their names (gitattributes(5)): `set`, `unset`, `unspecified` or
  /// what the file says.
  package func attributes(
    _ names: [String], of file: String
  ) throws(GitError) -> [ExactText: String] {
    let fields = try answer(["check-attr", "-z"] + names + ["--", "./" + file]).fields
      .map { String(decoding: $0, as: UTF8.self) }
    var values: [ExactText: String] = [:]
    for index in stride(from: 0, to: fields.count - 2, by: 3) {
      values[fields[index + 1]] = fields[index + 2]
    }
    return values
  }

  // MARK: Older texts

  /// The text with one of these raw digests that a file of the folder last had, in the folder as it
  /// is called now or, failing that, in any folder of the repository.
  package func text(
    ofFile name: String, withRawDigest digests: Set<ExactText>
  ) throws(GitError) -> FrozenText? {
    guard try commit("HEAD") != nil else { return nil }
    // The name is a migration's: it holds no character that means something in a pattern.
    for pattern in [":(literal)" + name, ":(top,glob)**/" + name] {
      var versions = try versions(pattern)[...]
      while !versions.isEmpty {
        let some = versions.prefix(64)
        versions = versions.dropFirst(64)
        for (version, bytes) in zip(some, try blobs(some.map(\.object))) {
          guard let bytes, digests.contains(rawDigest(of: bytes)) else { continue }
          return FrozenText(bytes: bytes, commit: version.commit, path: version.path)
        }
      }
    }
    return nil
  }

  private struct Version {
    let commit: String
    let object: String
    let path: String
  }

  /// Every text that a commit before HEAD gave the file, newest first, each once.
  private func versions(_ pattern: String) throws(GitError) -> [Version] {
    let fields = try answer([
      "log", "--full-history", "-m", "--raw", "-z", "--no-abbrev", "--no-renames",
      "--format=%x01%H", "HEAD", "--", pattern,
    ]).fields
    var versions: [Version] = []
    var seen: Set<ExactText> = []
    var commit = ""
    var object: String?
    for field in fields {
      let text = String(decoding: field.drop { $0 == lineFeed }, as: UTF8.self)
      if let found = object {
        object = nil
        guard found.utf8.contains(where: { $0 != UInt8(ascii: "0") }) else { continue }
        guard seen.insert(found) else { continue }
        versions.append(Version(commit: commit, object: found, path: text))
      } else if text.hasPrefix("\u{1}") {
        commit = String(text.dropFirst())
      } else if text.hasPrefix(":") {
        // :100644 100644 <old> <new> M
        let words = text.split(separator: " ")
        object = words.count == 5 ? String(words[3]) : nil
      }
    }
    return versions
  }

  /// The contents of objects; nil for one that is not here, as in a partial clone.
  private func blobs(_ objects: [String]) throws(GitError) -> [[UInt8]?] {
    guard !objects.isEmpty else { return [] }
    let input = objects.map { $0 + "\n" }.joined()
    var rest = try answer(["cat-file", "--batch"], input: Array(input.utf8))[...]
    var contents: [[UInt8]?] = []
    for _ in objects {
      // `<object> blob <size>`, or `<object> missing`.
      let header = rest.prefix { $0 != lineFeed }
      rest = rest[header.endIndex...].dropFirst()
      let words = header.split(separator: UInt8(ascii: " "))
      guard words.count == 3, let size = Int(String(decoding: words[2], as: UTF8.self)),
        size < rest.count
      else {
        contents.append(nil)
        continue
      }
      contents.append(words[1].elementsEqual("blob".utf8) ? Array(rest.prefix(size)) : nil)
      rest = rest.dropFirst(size + 1)
    }
    return contents
  }

  // MARK: Asking

  private func answer(_ words: [String], input: [UInt8] = []) throws(GitError) -> [UInt8] {
    try Self.ask(folder, words, input: input)
  }

  /// The one line of the answer; nil when git says no.
  ///
  /// - Parameter no: the exit statuses by which it says so. With all others it could not answer.
  private func line(_ words: [String], no: Set<Int32>) throws(GitError) -> String? {
    let result = try Self.run(folder, words, input: [])
    if no.contains(result.status) { return nil }
    guard result.status == 0 else { throw GitError(result, folder: folder) }
    let line = result.output.prefix { $0 != lineFeed }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private static func ask(
    _ folder: String, _ words: [String], input: [UInt8] = []
  ) throws(GitError) -> [UInt8] {
    let result = try run(folder, words, input: input)
    guard result.status == 0 else { throw GitError(result, folder: folder) }
    return result.output
  }

  private static func run(
    _ folder: String, _ words: [String], input: [UInt8]
  ) throws(GitError) -> Subprocess {
    let settings = [
      "core.fsmonitor=false", "log.showSignature=false", "log.follow=false", "core.quotePath=false",
      "core.warnAmbiguousRefs=true",
    ]
    let command =
      ["git", "--no-pager", "-C", folder.isEmpty ? "." : folder]
      + settings.flatMap { ["-c", $0] } + words
    do throws(Subprocess.Problem) {
      return try Subprocess.run(command, environment: environment, input: input)
    } catch {
      switch error {
      case .notInstalled: throw GitError(kind: .notInstalled, message: "git is not installed")
      case .failed(let reason):
        throw GitError(kind: .failed, message: "git cannot be run: \(reason)")
      }
    }
  }

  /// What git needs of our environment. Not among it is what a hook is given (`GIT_DIR`,
  /// `GIT_INDEX_FILE`, …), which holds for another working folder than the one that git is told.
  private static var environment: [String] {
    var names = [
      "PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LD_LIBRARY_PATH", "DEVELOPER_DIR", "SUDO_UID",
      "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
      "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
      "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_OBJECT_DIRECTORY",
      "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TEST_ASSUME_DIFFERENT_OWNER",
    ]
    for index in 0..<min(100, variable("GIT_CONFIG_COUNT").flatMap { Int($0) } ?? 0) {
      names += ["GIT_CONFIG_KEY_\(index)", "GIT_CONFIG_VALUE_\(index)"]
    }
    return names.compactMap { name in variable(name).map { "\(name)=\($0)" } } + [
      "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
      // What is frozen is what the commits say, not what this clone puts in their place.
      "GIT_NO_REPLACE_OBJECTS=1",
      // A partial clone would fetch what is missing.
      "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
    ]
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

extension GitError {
  fileprivate init(_ result: Subprocess, folder: String) {
    let said = String(decoding: result.errors, as: UTF8.self)
    if said.contains("not a git repository") || said.contains("must be run in a work tree") {
      self.init(kind: .notARepository, message: "\(folder) is in no git repository")
    } else if said.contains("dubious ownership") {
      self.init(
        kind: .refused,
        message: "git refuses the repository, because it belongs to another user "
          + "(`git config --global --add safe.directory …` allows it)")
    } else {
      let line = said.split(separator: "\n").first.map(String.init)
      self.init(
        kind: .failed,
        message: line.map { "git says: \($0)" } ?? "git ended with status \(result.status)")
    }
  }
}

extension GitFile {
  /// A line of `git ls-tree`: mode, type, object, tab, name.
  fileprivate init?(_ line: ArraySlice<UInt8>) {
    let facts = line.prefix { $0 != UInt8(ascii: "\t") }
    let words = facts.split(separator: UInt8(ascii: " "))
    guard words.count == 3, words[1].elementsEqual("blob".utf8) else { return nil }
    name = String(decoding: line[facts.endIndex...].dropFirst(), as: UTF8.self)
    object = String(decoding: words[2], as: UTF8.self)
    isLink = words[0].elementsEqual("120000".utf8)
  }
}

extension [UInt8] {
  /// What stands between the NULs.
  fileprivate var fields: [ArraySlice<UInt8>] { split(separator: 0) }
}
