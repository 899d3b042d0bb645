import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// An object of a repository.
struct GitObject {
  /// In hexadecimal.
  let id: String
  let kind: String
  let bytes: [UInt8]
}

/// An entry of a tree.
struct GitTreeEntry {
  let name: [UInt8]
  let id: String
  let isFolder: Bool
  /// False for a symbolic link and a submodule.
  let isFile: Bool
}

/// The objects of a repository, read through one `git cat-file --batch`.
final class GitObjects {
  private let conversation: Conversation
  private var trees: [ExactText: [GitTreeEntry]] = [:]
  /// The paths of the locks below a tree, relative to it.
  private var locks: [ExactText: [[UInt8]]] = [:]

  init(_ conversation: Conversation) {
    self.conversation = conversation
  }

  /// - Parameter name: an object or a revision, without line feeds.
  /// - Returns: nil if it does not exist, or is missing in a shallow or partial clone.
  func object(_ name: String) throws(GitError) -> GitObject? {
    let answer: [UInt8]
    do throws(Subprocess.Problem) {
      answer = try conversation.ask(Array(name.utf8) + [lineFeed]) { $0.isAnswer }
    } catch {
      throw GitError(error)
    }
    guard let header = answer.header else { return nil }
    let start = header.length
    return GitObject(
      id: header.id, kind: header.kind, bytes: Array(answer[start..<(start + header.size)]))
  }

  /// Reads a file of a revision.
  ///
  /// - Parameter path: relative to the top of the repository.
  func file(_ path: [UInt8], in revision: String) throws(GitError) -> GitObject? {
    guard let entry = try entry(path, in: revision), entry.isFile else { return nil }
    return try object(entry.id)
  }

  func entry(_ path: [UInt8], in revision: String) throws(GitError) -> GitTreeEntry? {
    var tree = try root(of: revision)
    var found: GitTreeEntry?
    for part in path.split(separator: UInt8(ascii: "/")) {
      guard let id = tree else { return nil }
      found = try entries(id).first { $0.name.elementsEqual(part) }
      tree = found.flatMap { $0.isFolder ? $0.id : nil }
      if found == nil { return nil }
    }
    return found
  }

  /// The paths of all history locks of a revision.
  func locks(in revision: String) throws(GitError) -> [[UInt8]] {
    guard let tree = try root(of: revision) else { return [] }
    return try locks(below: tree)
  }

  /// The maximum number of trees that a search reads.
  private static let searchLimit = 20_000
  private(set) var isSearchIncomplete = false

  private func locks(below tree: String) throws(GitError) -> [[UInt8]] {
    if let known = locks[tree] { return known }
    guard locks.count < Self.searchLimit else {
      isSearchIncomplete = true
      return []
    }
    var paths: [[UInt8]] = []
    for entry in try entries(tree) {
      if entry.isFile, entry.name.elementsEqual(HistoryLock.fileName.utf8) {
        paths.append(entry.name)
      }
      guard entry.isFolder else { continue }
      paths += try locks(below: entry.id).map { entry.name + [UInt8(ascii: "/")] + $0 }
    }
    locks[tree] = paths
    return paths
  }

  /// The ids of a commit's parents.
  func parents(of commit: GitObject) -> [String] {
    commit.bytes.split(separator: lineFeed, omittingEmptySubsequences: false)
      .prefix { !$0.isEmpty }
      .filter { $0.starts(with: "parent ".utf8) }
      .map { String(decoding: $0.dropFirst("parent ".utf8.count), as: UTF8.self) }
  }

  private func root(of revision: String) throws(GitError) -> String? {
    guard let tree = try object("\(revision)^{tree}") else { return nil }
    trees[tree.id] = parsed(tree.bytes, idLength: tree.id.utf8.count / 2)
    return tree.id
  }

  private func entries(_ tree: String) throws(GitError) -> [GitTreeEntry] {
    if let known = trees[tree] { return known }
    let entries = parsed(try object(tree)?.bytes ?? [], idLength: tree.utf8.count / 2)
    trees[tree] = entries
    return entries
  }

  /// The entries of a tree: mode, space, name, NUL and the bytes of the id.
  private func parsed(_ bytes: [UInt8], idLength: Int) -> [GitTreeEntry] {
    var rest = bytes[...]
    var entries: [GitTreeEntry] = []
    while let space = rest.firstIndex(of: UInt8(ascii: " ")),
      let end = rest[space...].firstIndex(of: 0)
    {
      let mode = rest[..<space]
      let id = rest[(end + 1)...].prefix(idLength)
      entries.append(
        GitTreeEntry(
          name: Array(rest[(space + 1)..<end]), id: hexadecimal(id),
          isFolder: mode.elementsEqual("40000".utf8), isFile: mode.starts(with: "100".utf8)))
      rest = rest[id.endIndex...]
    }
    return entries
  }
}

extension [UInt8] {
  /// `<object> <kind> <size>` and a line feed, for an existing object.
  fileprivate var header: (id: String, kind: String, size: Int, length: Int)? {
    guard let end = firstIndex(of: lineFeed) else { return nil }
    let words = self[..<end].split(separator: UInt8(ascii: " "))
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, let size = Int(words[2]) else { return nil }
    return (words[0], words[1], size, end + 1)
  }

  /// Whether the answer is complete: a header with an object and a line feed, or `<name> missing`.
  fileprivate var isAnswer: Bool {
    guard let header else { return contains(lineFeed) }
    return count > header.length + header.size
  }
}
