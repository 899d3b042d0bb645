import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Runs migrations on a filled database, optionally with a changed value or without a row.
final class Experiment {
  enum Change {
    case set(table: String, address: String, column: String, value: Value)
    case remove(table: String, address: String)

    var sql: String {
      switch self {
      case .set(let table, let address, let column, let value):
        "UPDATE main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = \(value.literal) "
          + "WHERE \(address)"
      case .remove(let table, let address):
        "DELETE FROM main.\(Quoting.quoted(table)) WHERE \(address)"
      }
    }
  }

  /// A statement of the last migration, and the contents of the tables after it.
  struct Step {
    let statement: ReplayedStatement
    let digest: [Identifier: Int]
    let contents: Contents
  }

  struct Outcome {
    let contents: Contents
    var steps: [Step] = []
  }

  let database: FilledDatabase
  private let application: Application
  private let migrations: [Migration]
  private let interruption: Interruption
  /// Why the migrations did not run the last time.
  private(set) var refusal: String?

  init(
    _ database: FilledDatabase, _ migrations: [Migration], _ application: Application,
    _ interruption: Interruption
  ) {
    self.database = database
    self.migrations = migrations
    self.application = application
    self.interruption = interruption
  }

  /// - Returns: nil if a change is refused or a migration fails.
  func run(_ changes: [Change] = [], tracing: Bool = false) throws(Failure) -> Outcome? {
    refusal = nil
    let names = database.tables.keys
    do {
      let connection = try application.scratch()
      let calls = try application.register(on: connection)
      try connection.fixClockAndChance(ChanceCounter(from: ChanceCounter.range.lowerBound))
      try connection.deserialize(database.bytes)
      connection.set(.trustedSchema, to: true)
      connection.set(.triggers, to: false)
      for change in changes {
        if let refusal = try connection.refusal(of: change.sql) {
          self.refusal = refusal
          return nil
        }
      }
      connection.set(.triggers, to: true)
      let scratch = try ScratchDatabase(
        on: connection, application, calls, isCopy: false, interruption: interruption)
      for migration in migrations.dropLast() { try scratch.apply(migration) }
      var steps: [Step] = []
      if tracing {
        scratch.observe(comparesSchemas: false) { (statement, _) throws(DatabaseError) in
          let contents = try Contents(
            of: connection, Schema(of: connection), before: names)
          steps.append(Step(statement: statement, digest: contents.digest, contents: contents))
        }
      }
      for migration in migrations.suffix(1) { try scratch.apply(migration) }
      guard calls.called.isEmpty else {
        refusal = "the application's \(calls.called.joined(separator: ", ")) is called"
        return nil
      }
      return Outcome(
        contents: try Contents(of: connection, scratch.schema, before: names), steps: steps)
    } catch let failure as Failure {
      if failure.status == .interrupted { throw failure }
      refusal = failure.message
      return nil
    } catch let error as DatabaseError {
      guard !error.isOfMachine || error.exceeded != nil else {
        throw Failure(error.status, "the experiment with rows failed: \(error.inWords)")
      }
      refusal = error.inWords
      return nil
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }
}
