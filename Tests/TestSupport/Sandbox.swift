import Foundation
import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLite
import SchemaYAML

/// A temporary folder with a history and databases. `deinit` deletes it.
package final class Sandbox {
  package let folder: String
  package var application = Application()
  package var ignore: [String] = []

  /// - Parameter isInMemory: whether to use a folder in memory if possible, for many short-lived databases
  ///   without simulated crashes.
  package init(isInMemory: Bool = false) throws {
    let memory = "/dev/shm"
    let parent =
      isInMemory && FileManager.default.isWritableFile(atPath: memory)
      ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    let url = parent.appendingPathComponent("schemactl-\(UUID().uuidString)")
    folder = url.path
    try FileManager.default.createDirectory(
      atPath: folder + "/migrations", withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  package var database: String { folder + "/live.sqlite" }

  @discardableResult
  package func add(_ id: String, _ yaml: String) throws -> Self {
    try yaml.write(toFile: folder + "/migrations/\(id).yaml", atomically: true, encoding: .utf8)
    return self
  }

  /// Adds a migration with one `sql` operation.
  @discardableResult
  package func addSQL(_ id: String, _ sql: String) throws -> Self {
    let indented = sql.split(separator: "\n", omittingEmptySubsequences: false)
      .map { "      \($0)" }.joined(separator: "\n")
    return try add(id, "operations:\n  - sql: |\n\(indented)\n")
  }

  /// Replaces the last migration by a `rebuild_table` with the definition of the table in another sandbox.
  package func replaceLastMigration(rebuilding table: String, as other: Sandbox) throws {
    let last = try project().migrations.last?.id ?? ""
    let sql = try other.schema().table(table)?.sql ?? ""
    try add(
      last,
      "operations:\n- rebuild_table:\n    table: \(table)\n    sql: \(yamlQuoted(sql))\n")
  }

  package func project() throws -> Project {
    let folder = MigrationFolder(self.folder + "/migrations")
    var project = Project(
      folder: folder, migrations: try folder.migrations(),
      lock: try folder.lock(), application: application, foreign: ForeignObjects(ignoring: ignore))
    project.readSquashed = MigrationFolder.readSquashed
    return project
  }

  package func freeze(release: String? = "1.0", through: String? = nil) throws {
    let project = try project()
    try project.folder.write(try project.freezing(release: release, through: through).lock)
  }

  package func options(
    to: String? = nil, _ change: (inout MigrateOptions) -> Void = { _ in }
  ) -> MigrateOptions {
    var options = MigrateOptions(database: database)
    options.through = to
    change(&options)
    return options
  }

  @discardableResult
  package func migrate(to: String? = nil, _ change: (inout MigrateOptions) -> Void = { _ in })
    throws
    -> MigrateReport
  {
    try project().migrate(options(to: to, change))
  }

  /// Runs `migrate` and returns its failure, whether it is thrown or in the report; nil if it succeeds.
  package func failure() -> Failure? {
    do {
      return try migrate().failure
    } catch {
      return Failure(of: error, database: database)
    }
  }

  package func open() throws -> Connection {
    try Connection(path: database, mode: .readWriteCreate)
  }

  /// Runs SQL on the database, with foreign keys off.
  package func run(_ sql: String) throws { try open().execute(sql) }

  package func rows(_ sql: String) throws -> [[Value]] { try open().rows(sql) }

  package func schema() throws -> Schema { try Schema(of: open()) }

  package var ledger: [String] {
    get throws { (try Ledger.usual.rows(in: open()) ?? []).map(\.id) }
  }
}
