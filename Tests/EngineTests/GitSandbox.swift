import Foundation
import SchemaAuthoring
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaTestPrograms
import SchemaYAML

/// A git repository with a history in one of its folders. It does not use the machine's git configuration and
/// user.
final class GitSandbox {
  /// The top folder of the working tree.
  let top: String
  /// The path of the migrations directory, relative to the top; empty for the top itself.
  let folder: String

  /// - Parameter commits: whether to create a first commit.
  init(folder: String = "migrations", commits: Bool = true) throws {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("git-\(UUID().uuidString)")
    top = url.path
    self.folder = folder
    try FileManager.default.createDirectory(
      atPath: path(""), withIntermediateDirectories: true)
    try git("init", "--quiet", "--initial-branch=main", ".")
    if commits { try commit("begin") }
  }

  /// Uses an existing working tree.
  private init(existing top: String, folder: String) {
    self.top = top
    self.folder = folder
  }

  deinit {
    try? FileManager.default.removeItem(atPath: top)
  }

  /// Returns the path of a file in the migrations directory.
  func path(_ name: String) -> String {
    [top, folder, name].filter { !$0.isEmpty }.joined(separator: "/")
  }

  // MARK: Files

  func write(_ id: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(id + ".yaml")))
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

  func edit(_ name: String, _ old: String, _ new: String) throws {
    let text = try String(contentsOfFile: path(name), encoding: .utf8)
    guard text.contains(old) else { throw GitSandboxError(message: "\(name) has no \(old)") }
    try Data(text.replacing(old, with: new).utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  func project(_ folder: String? = nil) throws -> Project {
    let folder = MigrationFolder(folder ?? path(""))
    var project = Project(
      folder: folder, migrations: try folder.migrations(), lock: try folder.lock())
    project.readSquashed = MigrationFolder.readSquashed
    return project
  }

  func freeze(release: String? = nil, through: String? = nil) throws {
    let project = try project()
    try project.folder.write(try project.freezing(release: release, through: through).lock)
  }

  func verify(base: String? = nil, folder: String? = nil) throws -> VerifyReport {
    try project(folder).verify(nil, base: base)
  }

  // MARK: Git

  @discardableResult
  func git(_ words: String..., in folder: String? = nil, mayFail: Bool = false) throws -> String {
    try SchemaTestPrograms.git(words, in: folder ?? top, mayFail: mayFail)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  func commit(_ message: String) throws {
    try git("add", "--all")
    try git("commit", "--quiet", "--allow-empty", "-m", message)
  }

  func clone(depth: Int) throws -> GitSandbox {
    let other = top + "-clone"
    try git("clone", "--quiet", "--depth", "\(depth)", "file://" + top, other)
    return GitSandbox(existing: other, folder: folder)
  }

  func linkedWorktree() throws -> GitSandbox {
    let other = top + "-linked"
    try git("worktree", "add", "--quiet", "--detach", other)
    return GitSandbox(existing: other, folder: folder)
  }

  // MARK: Histories

  static let lists = """
    operations:
      - create_table:
          name: lists
          columns:
            - { name: id, type: INTEGER, primary_key: true }
            - { name: title, type: TEXT, not_null: true, default: "" }

    """

  static let priority = """
    operations:
      - add_column: { table: lists, column: { name: priority, type: INTEGER } }
      - update: { table: lists, set: { priority: "1" }, where: title = 'urgent' }

    """

  /// Returns a repository with two migrations, frozen and committed.
  static func frozen(folder: String = "migrations") throws -> GitSandbox {
    let sandbox = try GitSandbox(folder: folder, commits: false)
    try sandbox.write("0001_lists", lists)
    try sandbox.write("0002_priority", priority)
    try sandbox.freeze(release: "1.0")
    try sandbox.commit("release 1.0")
    return sandbox
  }
}

struct GitSandboxError: Error {
  let message: String
}

/// Returns a manifest that creates a table.
func creating(_ table: String) -> String { "operations:\n- sql: CREATE TABLE \(table) (x)\n" }

extension VerifyReport {
  func state(_ id: String) -> HistoryState? { history.first { $0.id == id }?.state }

  func detail(_ id: String) -> String { history.first { $0.id == id }?.detail ?? "" }

  func says(_ text: String) -> Bool { notes.contains { $0.contains(text) } }
}
