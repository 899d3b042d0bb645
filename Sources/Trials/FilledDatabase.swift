import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// A private database with the schema before a step and with rows that carry marks, kept as bytes so that
/// every run begins with the same.
struct FilledDatabase {
  struct Row {
    let kind: RowKind
    /// `rowid = 3`, or the primary key of a table that has no rowid.
    let address: String
    var cells: [Value]
  }

  struct Table {
    let shape: DeviceTable
    var rows: [Row]

    func index(of column: Identifier) -> Int? {
      shape.columns.firstIndex { $0.key == column }
    }

    /// A value with a mark in one of the rows.
    func value(of column: Identifier, without rows: [Int]) -> Value? {
      guard let index = index(of: column) else { return nil }
      return self.rows.indices.lazy.filter { !rows.contains($0) }.map { self.rows[$0].cells[index] }
        .first { !MarkMaker.numbers(in: $0).isEmpty }
    }
  }

  let bytes: [UInt8]
  private(set) var tables: [Identifier: Table] = [:]
  /// Columns that hold the keys of another table, by table.
  let references: [Identifier: [RowFiller.Reference]]

  init(
    _ filler: RowFiller, on connection: Connection
  ) throws(DatabaseError) {
    bytes = try connection.serialized()
    references = filler.references
    for (name, filled) in filler.filled {
      var table = Table(shape: filled.shape, rows: [])
      let columns = filled.shape.columns.map { Quoting.quoted($0.name) }.joined(separator: ", ")
      guard !filled.shape.columns.isEmpty else { continue }
      for (address, kind) in filled.rows {
        let cells = try connection.rows(
          "SELECT \(columns) FROM main.\(Quoting.quoted(filled.shape.name)) WHERE \(address)"
        ).first
        // A trigger may have taken it away.
        if let cells { table.rows.append(Row(kind: kind, address: address, cells: cells)) }
      }
      tables[name] = table
    }
  }
}

/// What a generated row is for.
enum RowKind: Hashable {
  /// Each value is like no other one of the database.
  case marked(Int)
  /// NULL wherever that is allowed.
  case nulls
  /// The first marked row again, as far as no key forbids it.
  case twin
  /// 0 and 1, in another pattern for each column.
  case bits(Int)
  /// Values that the step names beside the column.
  case literals(Int)
  /// Marks, and a time in each text, for a step that reads dates.
  case dates(Int)
  /// The likeliest values, which repeat; NULL in the first.
  case likely(Int)
}
