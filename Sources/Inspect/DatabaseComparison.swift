import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A database compared with its history.
struct DatabaseComparison {
  /// The form of the history for the database (`Project.view`).
  let project: Project
  let live: LiveDatabase
  let ledger: [LedgerEntry]
  /// The reason why the migrations that the database has run are unknown.
  let failure: Failure?

  /// - Parameters:
  ///   - mayBeForeign: whether the database may have tables and no ledger.
  ///   - mayBeEmpty: whether the database may have run no migration.
  /// - Throws: a failure if the database cannot be read.
  init(
    _ database: ReadableDatabase, with project: Project, mayBeForeign: Bool = false,
    mayBeEmpty: Bool = true
  ) throws(Failure) {
    self.project = project
    let path = database.name
    var live = try LiveDatabase(database.connection, project.ledger, path: path)
    do throws(Failure) {
      live = try project.adopting(live, in: database)
      if !mayBeForeign { try live.requireOurs(project, path: path) }
      if !mayBeEmpty { try live.requireContent(path: path) }
      failure = nil
    } catch {
      failure = error
    }
    self.live = live
    ledger = project.compareLedger(live.rows ?? [])
  }

  /// The ids of the migrations that only the ledger contains.
  var unknown: [String] { ledger.filter { $0.state == .unknown }.map(\.id) }

  /// The migrations of the history through the last one that the database has run. Without a ledger, the
  /// database is compared with the whole history.
  private var migrations: ArraySlice<Migration> {
    guard live.rows != nil else { return project.migrations[...] }
    let known = live.known
    let last = project.migrations.lastIndex { known.contains($0.id) }
    return project.migrations.prefix(last.map { $0 + 1 } ?? 0)
  }

  /// Replays the history as far as the database has run it, and compares the schema.
  ///
  /// - Throws: a failure if the history cannot be replayed so far.
  func drift() throws(Failure) -> [SchemaChange] {
    let replay = try project.replay(
      Array(migrations), after: live.adopted == 0 ? live.known : [],
      interruption: Interruption())
    guard let drift = drift(from: replay) else {
      throw replay.failure ?? Failure(.bug, "the replay ended early")
    }
    return drift
  }

  /// The differences from the schema that the history promises after the migrations that the database has
  /// run. A migration that is missing from the ledger has not run, wherever it is in the history.
  ///
  /// - Returns: nil if the replay does not reach the latest migration of the database.
  func drift(from replay: PendingReplay) -> [SchemaChange]? {
    let migrations = migrations
    guard migrations.count <= replay.replayed.count + replay.steps.count else { return nil }
    let ids = live.rows == nil ? Set(migrations.map(\.id.exact)) : live.known
    return project.drift(of: live.schema, from: replay.schema(after: ids))
  }
}
