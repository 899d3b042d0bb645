import SchemaSQLText
import SchemaSQLite

/// Harm that one device does to the rows of another.
enum Harm: Sendable, Hashable {
  case noTable
  /// The device lacks the column. `first` is the first column of the row that it lacks.
  case noColumn(first: String)
  /// SQLite refuses the row with this message.
  case refused(String)
  /// The device stores another value, from which the original cannot be restored.
  case changed(sent: Value, kept: Value)
  /// The row, or an earlier row, is missing.
  case missingRow

  /// A text that is equal for harm of the same kind, regardless of values.
  var signature: String {
    switch self {
    case .noTable: "no table"
    case .noColumn: "no column"
    case .refused(let message): message
    case .changed: "changed"
    case .missingRow: "gone"
    }
  }
}

/// A statement on one of the two devices.
struct Step: Sendable {
  enum Role: Sendable, Hashable {
    case sender, receiver
  }

  let role: Role
  let sql: String
}

/// Harm between two devices, with the statements that lead to it.
struct Counterexample: Sendable {
  var table: String
  /// The column; nil if the harm concerns the whole table.
  var column: Identifier?
  let harm: Harm
  /// Describes the sender's actions.
  let actions: String
  /// The statements of both devices; the last one demonstrates the harm.
  let steps: [Step]
  let tables: Set<Identifier>
}
