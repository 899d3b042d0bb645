import Planning
import SQLText
import SQLite
import SchemaModel

/// All tables of a database before a migration, and what the migration says that it writes: with
/// `--paranoid` nothing else may differ afterwards, whoever has done it.
///
/// What an operation of ours rewrites it proves itself (`RowProof`); what the manifest's own
/// statements write is counted and reported.
final class RowWatch {
  private let connection: Connection
  private let before: [Identifier: Table]
  /// Operations that prove their rows themselves.
  private var proven: Set<Int> = []
  /// Tables that statements of the manifest write, by their present names.
  private var written: Set<Identifier> = []
  /// How many columns of each table are dropped, or changed by an operation that proves the others.
  private var changedColumns: [Identifier: Int] = [:]
  /// Tables whose rows an operation has proven that tells them apart by something else afterwards.
  private var reidentified: Set<Identifier> = []
  private var renames = TableRenames()

  private struct Table {
    let object: SchemaObject
    let rows: TableRows
    let checksums: RowChecksums
  }

  init(_ schema: Schema, on connection: Connection) throws(RowWatchError) {
    self.connection = connection
    before = try Self.tables(of: schema, on: connection)
  }

  /// Generated columns and virtual tables follow from what is read here; SQLite's own tables have
  /// rows that any statement may change.
  private static func tables(
    of schema: Schema, on connection: Connection
  ) throws(RowWatchError) -> [Identifier: Table] {
    var tables: [Identifier: Table] = [:]
    for object in schema.tables where !object.isInternal && object.rootPage != 0 {
      do {
        let rows = try TableRows(of: object)
        tables[object.key.name] = Table(
          object: object, rows: rows, checksums: try RowChecksums(of: rows, on: connection))
      } catch let error as PlanningError {
        throw .unreadable(error.message)
      } catch let error as DatabaseError {
        throw .database(error)
      } catch {
        throw .unreadable("\(error)")
      }
    }
    return tables
  }

  // MARK: What the migration does

  func note(_ plan: OperationPlan, at operation: Int) {
    guard !plan.proofs.isEmpty else { return }
    proven.insert(operation)
    for proof in plan.proofs {
      changedColumns[proof.after.table.identifier, default: 0] += proof.changedColumns
      if !proof.keepsIdentity { reidentified.insert(proof.after.table.identifier) }
    }
  }

  func note(_ statement: Runner.RunStatement) {
    for (old, new) in TableRenames.renamings(by: statement.sql, statement.events) {
      if written.remove(old) != nil { written.insert(new) }
      changedColumns[new, default: 0] += changedColumns.removeValue(forKey: old) ?? 0
      if reidentified.remove(old) != nil { reidentified.insert(new) }
    }
    renames.note(statement.sql, statement.events)
    guard !proven.contains(statement.operation) else { return }
    for event in statement.events {
      switch event.action {
      case .insert, .update, .delete:
        guard event.database == "main", let name = event.first else { continue }
        written.insert(name.identifier)
      case .alterTable where event.database != nil:
        // The third name is there when a column is dropped.
        changedColumns[event.second?.identifier ?? "", default: 0] += 1
      default: break
      }
    }
  }

  // MARK: What has become of the rows

  /// - Returns: the tables that statements of the manifest wrote, with how many rows each had and has.
  func check(_ schema: Schema) throws(RowWatchError) -> [WrittenTable] {
    let after = try Self.tables(of: schema, on: connection)
    var report: [WrittenTable] = []
    var found: Set<Identifier> = []
    for (name, old) in before.sorted(by: { $0.key < $1.key }) {
      let new = successor(of: old, in: after)
      if let new { found.insert(new.object.key.name) }
      if isWritten(old.object, new?.object) {
        report.append(
          WrittenTable(
            table: new?.object.name ?? old.object.name, before: old.checksums.rows,
            after: new?.checksums.rows))
      } else if let new, let damage = damage(old, new) {
        throw .changed(damage)
      } else if new == nil {
        throw .changed("the table \(name) is gone")
      }
    }
    for (name, new) in after where !found.contains(name) {
      guard isWritten(nil, new.object) else { continue }
      report.append(
        WrittenTable(table: new.object.name, before: nil, after: new.checksums.rows))
    }
    return report.sorted { $0.table < $1.table }
  }

  /// The same table afterwards: renamed, or recreated under its name.
  private func successor(of old: Table, in after: [Identifier: Table]) -> Table? {
    after[renames.presentName(of: old.object.key.name)] ?? after[old.object.key.name]
  }

  private func isWritten(_ old: SchemaObject?, _ new: SchemaObject?) -> Bool {
    let names = [old.map { renames.presentName(of: $0.key.name) }, new?.key.name].compactMap { $0 }
    return names.contains { written.contains($0) || isShadowOfWritten($0) }
  }

  /// A module writes its tables with statements that it may have compiled long before.
  private func isShadowOfWritten(_ name: Identifier) -> Bool {
    let bytes = Array(name.text.utf8)
    return bytes.indices.contains { index in
      bytes[index] == UInt8(ascii: "_")
        && written.contains(String(decoding: bytes[..<index], as: UTF8.self))
    }
  }

  /// ALTER TABLE gives columns other names, and never other values: every column that was not dropped
  /// must be there, under its own name or another.
  private func damage(_ old: Table, _ new: Table) -> String? {
    let name = new.object.name
    guard old.checksums.rows == new.checksums.rows else {
      return "\(name) had \(counted(old.checksums.rows, "row")) and came to have "
        + "\(new.checksums.rows)"
    }
    guard !reidentified.contains(new.object.key.name) else { return nil }
    guard old.rows.tellsRowsApart && new.rows.tellsRowsApart || old.rows.columns == new.rows.columns
    else { return nil }
    var rest = Array(zip(new.rows.columns.map(\.identifier), new.checksums.columns))
    var lost = Array(zip(old.rows.columns, old.checksums.columns))
    lost.removeAll { column, checksum in
      rest.remove { $0 == column.identifier && $1 == checksum }
    }
    lost.removeAll { _, checksum in rest.remove { $1 == checksum } }
    let allowed = Set([old.object.key.name, new.object.key.name])
      .reduce(0) { $0 + (changedColumns[$1] ?? 0) }
    guard lost.count > allowed else { return nil }
    return "values changed that had to stay: "
      + "\(listed(lost.map { "\(name).\($0.0)" })) (\(counted(new.checksums.rows, "row")))"
  }
}

/// What `--paranoid` has seen of a run.
package struct ParanoidReport: Sendable, Hashable {
  /// What `PRAGMA quick_check` said after the last migration: `ok`, or why it could not be run.
  package var quickCheck = "ok"
  /// For each migration that was applied.
  package var written: [WrittenTable] = []
}

/// How many rows a table had and has that the manifest's own statements wrote.
package struct WrittenTable: Sendable, Hashable {
  package var migration = ""
  package let table: String
  /// Nil when the migration made the table.
  package let before: Int64?
  /// Nil when it dropped the table.
  package let after: Int64?
}

enum RowWatchError: Error {
  case database(DatabaseError)
  /// The definition of a table cannot be read.
  case unreadable(String)
  /// Something is not as it was.
  case changed(String)
}

extension Array {
  /// Removes the first element that `isMeant` names. False when there is none.
  fileprivate mutating func remove(where isMeant: (Element) -> Bool) -> Bool {
    guard let index = firstIndex(where: isMeant) else { return false }
    remove(at: index)
    return true
  }
}
