import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Runs migrations on a database that holds rows, and counts them.
final class RowReplay {
  let scratch: ScratchDatabase
  private let calls: CallRecord
  /// How many rows each watched table has now.
  private var counts: [Identifier: Int64] = [:]
  private var ran: [Ran] = []

  private struct Ran {
    let sql: String
    /// Before it ran.
    let counts: [Identifier: Int64]
    let losses: [RowLoss]
  }

  init(_ scratch: ScratchDatabase, _ calls: CallRecord) {
    self.scratch = scratch
    self.calls = calls
    scratch.observe(comparesSchemas: false) {
      [unowned self] (statement, _) throws(DatabaseError) in
      try note(statement.sql, statement.events)
    }
  }

  private var connection: Connection { scratch.connection }

  /// Whether the statement that ran last asked for a function or a collation that is not known here:
  /// then its outcome says nothing.
  var askedForUnknown: Bool { !calls.called.isEmpty }

  /// - Parameters:
  ///   - step: what the migration did without rows.
  ///   - tables: those whose rows are counted.
  func apply(
    _ step: ScratchDatabase.Step, counting tables: Set<Identifier>
  ) throws(Failure) -> ScratchDatabase.Step {
    ran = []
    calls.clear()
    do {
      counts = try count(withoutVirtual(tables))
    } catch {
      throw Failure(error.status, "rows cannot be counted: \(error.inWords)")
    }
    return try scratch.apply(step.migration, touching: step.touched)
  }

  private func note(_ sql: String, _ events: [AuthorizerEvent]) throws(DatabaseError) {
    let before = counts
    var losses: [RowLoss] = []
    for name in before.isEmpty ? [] : events.mainTables where before[name] != nil {
      counts[name] = try count([name])[name]
      guard let old = before[name], let new = counts[name], new < old else { continue }
      losses.append(RowLoss(table: name, before: old, after: new))
    }
    ran.append(Ran(sql: sql, counts: before, losses: losses))
  }

  /// Without search indexes and their shadow tables, whose rows follow from other tables.
  private func withoutVirtual(_ tables: Set<Identifier>) -> Set<Identifier> {
    let own = scratch.schema.withoutShadowTables()
    return tables.filter { own.object(.table, $0).map { !$0.isVirtualTable } ?? false }
  }

  private func count(_ tables: Set<Identifier>) throws(DatabaseError) -> [Identifier: Int64] {
    var counts: [Identifier: Int64] = [:]
    for table in tables {
      do {
        counts[table] =
          try connection.value("SELECT count(*) FROM main.\(Quoting.quoted(table))")?.integer
      } catch  where !error.isOfMachine {}
    }
    return counts
  }

  /// Notes which rows went with the migration that was applied last.
  func report(
    _ migration: Int, _ timeline: Timeline, to evidence: inout RowEvidence
  ) throws(Failure) {
    let statements = timeline.statements(in: migration)
    guard statements.count == ran.count else { return }
    for (statement, ran) in zip(statements, ran) where statement.sql == ran.sql {
      guard let target = statement.target?.name.identifier else { continue }
      let others = ran.losses.filter { $0.table != target }
      if !others.isEmpty { evidence.losses[statement.place.number] = others }
    }
    for change in timeline.changes(in: migration) {
      guard change.isRebuilt, let after = change.after,
        let loss = try loss(change, after, statements)
      else { continue }
      evidence.rebuilds[.init(migration: migration, table: after.key)] = loss
    }
  }

  /// The rows that a rebuild leaves behind; nil when it leaves none, or rows are deleted on the way.
  private func loss(
    _ change: TableChange, _ after: TableShape, _ statements: ArraySlice<StatementEffect>
  ) throws(Failure) -> RowLoss? {
    let copies = change.copies.filter { $0.source != nil }
    guard let first = copies.min(by: { $0.place.number < $1.place.number }),
      let source = first.source?.key, copies.allSatisfy({ $0.source?.key == source }),
      let number = statements.firstIndex(where: { $0.place == first.place })
    else { return nil }
    let deletes = statements[number...].contains { $0.target?.deletes ?? false }
    guard !deletes, let before = ran[number - statements.startIndex].counts[source] else {
      return nil
    }
    do {
      guard let now = try count([after.key])[after.key], now < before else { return nil }
      return RowLoss(table: after.key, before: before, after: now)
    } catch {
      throw Failure(error.status, "rows cannot be counted: \(error.inWords)")
    }
  }

  /// Gives the columns of an index what they have in a row that says nothing of them.
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

  /// Creates indexes again, as far as the rows and the names allow it, and says which.
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

  /// Takes all rows away, and nothing else.
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

extension [AuthorizerEvent] {
  /// The tables of the schema that a statement reads, writes or changes.
  var mainTables: Set<Identifier> {
    Set(
      lazy.compactMap { event -> String? in
        switch event.action {
        case .read, .insert, .update, .delete, .dropTable:
          return event.database == "main" ? event.first : nil
        case .alterTable: return event.first == "main" ? event.second : nil
        case .createIndex: return event.database == "main" ? event.second : nil
        default: return nil
        }
      }.map(\.identifier).filter { !$0.isInternal })
  }
}
