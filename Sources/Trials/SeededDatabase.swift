import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// A private database with generated rows, on which migrations run one after another.
final class SeededDatabase {
  let scratch: ScratchDatabase
  private let calls: CallRecord
  var marks = MarkMaker()
  /// The number of tested migrations that have run on it.
  var count = 0

  /// - Parameter base: the database before the first tested migration; nil for an empty one.
  init(_ application: Application, _ base: [UInt8]?) throws {
    let connection = try application.scratch()
    calls = try application.register(on: connection)
    try connection.fixClockAndChance(ChanceCounter())
    if let base { try connection.deserialize(base) }
    connection.set(.trustedSchema, to: true)
    scratch = try ScratchDatabase(on: connection, application, calls, isCopy: false)
  }

  private var connection: Connection { scratch.connection }

  /// Whether the last statement called a function or a collation that is unknown here. Its outcome
  /// is meaningless then.
  var calledUnknown: Bool { !calls.called.isEmpty }

  /// - Parameter step: the effects of the migration without rows.
  func apply(_ step: ScratchDatabase.Step) throws(Failure) -> ScratchDatabase.Step {
    calls.clear()
    return try scratch.apply(step.migration, touching: step.touched)
  }

  /// Sets the columns of an index to their default values in every row.
  func reset(_ index: CreatedUniqueIndex) throws(DatabaseError) {
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: true) }
    let table = try DeviceTable(index.table, on: connection)
    for name in index.columns {
      guard let name, let column = table.column(name) else { continue }
      do {
        try connection.execute(
          "UPDATE main.\(Quoting.quoted(index.table)) SET \(Quoting.quoted(column.name)) = "
            + "(\(column.defaultText ?? "NULL"))")
      } catch  where !error.isOfMachine {}
    }
  }

  /// Recreates indexes if the rows and the names allow it, and returns them.
  func restore(_ indexes: [SchemaObject]) throws(DatabaseError) -> [SchemaObject] {
    var restored: [SchemaObject] = []
    for index in indexes {
      guard let sql = index.sql, try connection.refusal(of: sql) == nil else { continue }
      restored.append(index)
    }
    return restored
  }

  func drop(_ indexes: [SchemaObject]) throws(DatabaseError) {
    for index in indexes { try connection.execute("DROP INDEX main.\(Quoting.quoted(index.name))") }
  }

  /// Deletes all rows without firing triggers.
  func empty(_ tables: Set<Identifier>) throws(DatabaseError) {
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: true) }
    for table in tables.sorted() {
      do {
        try connection.execute("DELETE FROM main.\(Quoting.quoted(table))")
      } catch  where !error.isOfMachine {}
    }
  }
}
