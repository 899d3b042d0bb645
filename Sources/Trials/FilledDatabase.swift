import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// A private database with the schema before a step and with marked rows. It is stored as bytes, so
/// that every run starts from the same state.
struct FilledDatabase {
  struct Row {
    let kind: RowKind
    /// `rowid = 3`, or the primary key of a table without a rowid.
    let address: String
    var cells: [Value]
  }

  struct Table {
    let shape: DeviceTable
    /// The values in the CHECKs of each column.
    let hints: [Identifier: [Value]]
    var rows: [Row]

    func index(of column: Identifier) -> Int? {
      shape.columns.firstIndex { $0.key == column }
    }
  }

  let bytes: [UInt8]
  private(set) var tables: [Identifier: Table] = [:]
  /// Columns that hold keys of another table, by table.
  let references: [Identifier: [RowFiller.Reference]]

  init(
    _ filler: RowFiller, on connection: Connection
  ) throws(DatabaseError) {
    bytes = try connection.serialized()
    references = filler.references
    for (name, filled) in filler.filled {
      var table = Table(shape: filled.shape, hints: filled.hints, rows: [])
      guard !filled.shape.columns.isEmpty else { continue }
      let columns = filled.key + filled.shape.columns.map { Quoting.quoted($0.name) }
      let rows = try connection.rows(
        "SELECT \(columns.joined(separator: ", ")) FROM main.\(Quoting.quoted(filled.shape.name))")
      let cells = Dictionary(
        rows.map { (filled.address($0).exact, Array($0[filled.key.count...])) },
        uniquingKeysWith: { first, _ in first })
      for (address, kind) in filled.rows {
        // A trigger may have deleted the row.
        if let cells = cells[address] {
          table.rows.append(Row(kind: kind, address: address, cells: cells))
        }
      }
      tables[name] = table
    }
  }
}

/// The purpose of a generated row.
enum RowKind: Hashable {
  /// Each value differs from all others of the database.
  case marked(Int)
  /// NULL in every column that accepts it.
  case nulls
  /// NULL in every second column that accepts it, in a different pattern for each row: for any two
  /// of six adjacent columns, one row has NULL only in the first and one only in the second.
  case sparse(Int)
  /// A copy of the first marked row, except for unique columns.
  case twin
  /// A copy of the first marked row whose unique texts end in a space.
  case padded
  /// A row whose text key is that of the fourth marked row in capitals.
  case otherCase
  /// A row whose text key is that of the fourth marked row and a space.
  case otherSpace
  /// 0 and 1, in a different pattern for each column.
  case bits(Int)
  /// Values near the column's name in the step.
  case literals(Int)
  /// Marks with a time in each text, for a step that parses dates.
  case dates(Int)
  /// Marks in the members of JSON objects that the step names.
  case members(Int)
  /// The most likely values, which repeat; NULL in the first row.
  case likely(Int)
}

extension RowKind {
  var isLikely: Bool { if case .likely = self { true } else { false } }

  /// Whether rows of this kind may refer to no parent.
  var hasNulls: Bool {
    switch self {
    case .nulls, .likely(0), .sparse: true
    default: false
    }
  }

  /// Whether rows of this kind have different parents.
  var isOfParents: Bool {
    switch self {
    case .bits, .nulls: true
    default: false
    }
  }
}
