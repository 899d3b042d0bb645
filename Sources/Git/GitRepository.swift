import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaSQLText

/// The git repository of a folder, read by running the `git` program.
///
/// The commands only read: they take no lock, run no hook and no pager, use no network and never prompt. One
/// process finds both the repository and the merge base.
package struct GitRepository: Sendable, Hashable {
  /// The folder of the manifests. Names that are passed to git are relative to it.
  package let folder: String
  /// The folder's path from the top of the working tree: empty, or ending in `/`.
  package let prefix: String
  /// The git folder of the working tree, which may be a linked one.
  let gitFolder: String
  /// Whether older commits are missing.
  package let isShallow: Bool
  /// The merge bases of HEAD and the requested base.
  package let mergeBases: [String]

  /// - Parameter base: a revision to compare with HEAD.
  /// - Throws: a failure with the reason why git cannot answer.
  package init(containing folder: String, base: String? = nil) throws(Failure) {
    self.folder = folder
    // The answer "true" separates two paths, which may contain line feeds.
    let separator = "--is-inside-work-tree"
    let result = try Self.run(
      folder,
      ["rev-parse", separator, "--is-shallow-repository"] + (base.map { ["\($0)...HEAD"] } ?? [])
        + [separator, "--absolute-git-dir", separator, "--show-prefix"])
    let lines = String(decoding: result.output, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    guard lines.first != "false" else {
      throw Failure(.notFound, "`\(folder)` is not in a working tree of git")
    }
    isShallow = lines.count > 1 && lines[1] == "true"
    if let base, lines.first == "true" {
      try Self.requireCommit(base, folder, result, isShallow: isShallow)
    }
    guard result.status == 0 else { throw Failure(result, folder: folder) }
    let parts = lines.dropFirst(2).dropLast().split(
      separator: "true", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw Failure(.notFound, "git returned an unknown description of the repository")
    }
    gitFolder = parts[1].joined(separator: "\n")
    prefix = parts[2].joined(separator: "\n")
    mergeBases = parts[0].filter { $0.hasPrefix("^") }.map { String($0.dropFirst()) }
    if let base, mergeBases.isEmpty {
      throw Failure(
        .notFound,
        "`\(base)` and `HEAD` have no commit in common"
          + (isShallow
            ? ": the clone is shallow; fetch more (`git fetch --unshallow`, or `fetch-depth: 0` for "
              + "actions/checkout)" : ""))
    }
  }

  private static func requireCommit(
    _ base: String, _ folder: String, _ result: Subprocess, isShallow: Bool
  ) throws(Failure) {
    let errors = String(decoding: result.errors, as: UTF8.self)
    if errors.contains(" is ambiguous") {
      let name = base.prefix { !"~^@:".contains($0) }
      let names = ["tags", "heads", "remotes"].map {
        "`--base \(shellQuoted("refs/\($0)/\(name)"))`"
      }
      throw Failure(
        .notFound,
        "`\(base)` is ambiguous in the repository of `\(folder)`: write a full name, such as "
          + "\(listed(names, "or")), or more digits of the commit")
    }
    guard result.status != 0, result.status < 129 else { return }
    let branch = base.hasPrefix("origin/") ? String(base.dropFirst("origin/".count)) : base
    let advice =
      isShallow
      ? ": the clone is shallow; fetch it (`fetch-depth: 0` for actions/checkout, or "
        + "`git fetch origin \(shellQuoted(branch))` and `--base FETCH_HEAD`)"
      : ": `git branch --all` lists the branches"
    throw Failure(.notFound, "`\(base)` is not a commit of the repository of `\(folder)`\(advice)")
  }

  /// All tags by their full names.
  func tags() throws(Failure) -> [String] { try Self.references(folder, ["refs/tags"]) }

  /// The short names of branches and tags.
  package static func revisions(of folder: String) throws(Failure) -> [String] {
    try references(folder, [], as: "refname:short")
  }

  private static func references(
    _ folder: String, _ patterns: [String], as format: String = "refname"
  ) throws(Failure) -> [String] {
    try answer(folder, ["for-each-ref", "--format=%(\(format))"] + patterns)
      .split(separator: .lineFeed).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The output of `git diff` for files of the folder since a commit.
  package func diff(_ names: [String], from commit: String) throws(Failure) -> [UInt8] {
    try Self.answer(
      folder,
      [
        "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/",
        "--dst-prefix=b/",
      ]
        + [commit, "--"] + names.map { "./" + $0 })
  }

  /// git's name for a file of a revision.
  ///
  /// - Parameter folder: relative to the top of the repository; empty, or ending in `/`.
  func name(_ file: String, in folder: String, of revision: String) -> String {
    // git reads names by line, and the path of the current folder may contain line feeds.
    folder.exact == prefix.exact ? "\(revision):./\(file)" : "\(revision):\(folder)\(file)"
  }

  /// The paths of all files of a name in trees, relative to the top of the repository.
  func paths(of name: String, inTrees trees: [String]) throws(Failure) -> [String] {
    guard let first = trees.first else { return [] }
    // Between two trees git lists the differences, so begin with the empty tree, in SHA-1 or SHA-256.
    let empty =
      first.utf8.count == 40
      ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
      : "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    let pairs = zip([empty] + trees, trees).map { "\($0) \($1)\n" }.joined()
    let output = try Self.answer(
      folder,
      ["diff-tree", "--stdin", "-r", "-z", "--name-only", "--", ":(top,glob)**/\(name)"],
      input: Array(pairs.utf8))
    // A line with the two trees precedes their names.
    let paths = output.split(separator: 0).compactMap { $0.split(separator: .lineFeed).last }
      .filter { $0.reversed().starts(with: name.utf8.reversed()) }
    return Set(paths.map(Array.init)).sorted { $0.lexicographicallyPrecedes($1) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The last 10,000 ancestors of HEAD that change files below folders, newest first.
  func commits(changing folders: [String]) throws(Failure) -> [String] {
    try Self.answer(
      folder,
      ["rev-list", "--full-history", "--max-count=10000", "--ignore-missing", "HEAD", "--"]
        + folders.map { ":(top,literal)\($0)" }
    ).split(separator: .lineFeed).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Starts a `git cat-file` that answers requests one by one.
  func objects() throws(Failure) -> GitObjects {
    do throws(Subprocess.Problem) {
      return GitObjects(
        try Conversation(
          Self.command(folder, ["cat-file", "--batch"]), environment: Self.environment))
    } catch {
      throw Failure(error)
    }
  }

  // MARK: Processes

  private static func answer(
    _ folder: String, _ words: [String], input: [UInt8] = []
  ) throws(Failure) -> [UInt8] {
    let result = try run(folder, words, input: input)
    guard result.status == 0 else { throw Failure(result, folder: folder) }
    return result.output
  }

  private static func run(
    _ folder: String, _ words: [String], input: [UInt8] = []
  ) throws(Failure) -> Subprocess {
    do throws(Subprocess.Problem) {
      return try Subprocess.run(command(folder, words), environment: environment, input: input)
    } catch {
      throw Failure(error)
    }
  }

  private static func command(_ folder: String, _ words: [String]) -> [String] {
    let settings = ["core.fsmonitor=false", "core.quotePath=false", "core.warnAmbiguousRefs=true"]
    return ["git", "--no-pager", "-C", folder.isEmpty ? "." : folder]
      + settings.flatMap { ["-c", $0] } + words
  }

  /// The environment variables that git needs. Omits variables that git sets for hooks (`GIT_DIR`,
  /// `GIT_INDEX_FILE`, …), because they select another working tree.
  private static var environment: [String] {
    var names = [
      "PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LD_LIBRARY_PATH", "DEVELOPER_DIR", "SUDO_UID",
      "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
      "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
      "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_OBJECT_DIRECTORY",
      "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TEST_ASSUME_DIFFERENT_OWNER",
    ]
    for index in 0..<min(100, Environment["GIT_CONFIG_COUNT"].flatMap { Int($0) } ?? 0) {
      names += ["GIT_CONFIG_KEY_\(index)", "GIT_CONFIG_VALUE_\(index)"]
    }
    return names.compactMap { name in Environment[name].map { "\(name)=\($0)" } } + [
      "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
      // Read the original commits, not this clone's replacements.
      "GIT_NO_REPLACE_OBJECTS=1",
      // A partial clone would fetch missing objects.
      "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
    ]
  }
}

extension Failure {
  /// Why git could not answer; continues a sentence.
  fileprivate init(_ problem: Subprocess.Problem) {
    switch problem {
    case .notInstalled: self.init(.notFound, "git is not installed")
    case .failed(let reason):
      self.init(.notFound, "schemactl cannot run git: \(reason)")
    }
  }

  fileprivate init(_ result: Subprocess, folder: String) {
    let errors = String(decoding: result.errors, as: UTF8.self)
    let line = errors.split(separator: "\n").first.map(String.init)
    self.init(
      .notFound,
      errors.contains("not a git repository") || errors.contains("must be run in a work tree")
        ? "`\(folder)` is not in a git repository"
        : errors.contains("dubious ownership")
          ? "git refuses the repository, because it belongs to another user "
            + "(`git config --global --add safe.directory …` allows it)"
          : line.map { "git reports: \($0)" } ?? "git ended with status \(result.status)")
  }
}

// MARK: Objects

/// An object of a repository.
struct GitObject {
  /// In hexadecimal.
  let id: String
  let isFile: Bool
  let bytes: [UInt8]
}

/// The objects of a repository, read through one `git cat-file --batch`.
final class GitObjects {
  private let conversation: Conversation

  init(_ conversation: Conversation) {
    self.conversation = conversation
  }

  /// - Parameter name: an object or a revision.
  /// - Returns: nil if it does not exist, or is missing in a shallow or partial clone.
  func object(_ name: String) throws(Failure) -> GitObject? {
    // git reads names by line.
    guard !name.utf8.contains(.lineFeed) else { return nil }
    let answer: [UInt8]
    do throws(Subprocess.Problem) {
      answer = try conversation.ask(Array(name.utf8) + [.lineFeed]) { $0.isAnswer }
    } catch {
      throw Failure(error)
    }
    guard let header = answer.header else { return nil }
    let start = header.length
    return GitObject(
      id: header.id, isFile: header.kind == "blob",
      bytes: Array(answer[start..<(start + header.size)]))
  }

  /// Reads a file. For a symbolic link, returns its target.
  ///
  /// - Parameter name: as `GitRepository.name` returns it.
  func file(_ name: String) throws(Failure) -> GitObject? {
    guard let object = try object(name), object.isFile else { return nil }
    return object
  }
}

extension [UInt8] {
  /// `<object> <kind> <size>` and a line feed, for an existing object.
  fileprivate var header: (id: String, kind: String, size: Int, length: Int)? {
    guard let end = firstIndex(of: .lineFeed) else { return nil }
    let words = self[..<end].split(separator: UInt8(ascii: " "))
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, let size = Int(words[2]) else { return nil }
    return (words[0], words[1], size, end + 1)
  }

  /// Whether the answer is complete: a header with an object and a line feed, or `<name> missing`.
  fileprivate var isAnswer: Bool {
    guard let header else { return contains(.lineFeed) }
    return count > header.length + header.size
  }
}
