import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The harm that one device does to the rows of another.
enum Harm: Sendable, Hashable {
  case noTable
  case noColumn
  /// What SQLite says.
  case refused(String)
  /// The device keeps another value, from which the first one cannot be had again.
  case changed(sent: Value, kept: Value)
  /// The row, or an earlier row, is missing.
  case gone

  /// Equal for equal changes of the schema.
  var signature: String {
    switch self {
    case .noTable: "no table"
    case .noColumn: "no column"
    case .refused(let message): message
    case .changed: "changed"
    case .gone: "gone"
    }
  }
}

/// A statement on one of the two devices.
struct Step: Sendable {
  enum Party: Sendable, Hashable {
    case sender, receiver

    var other: Party { self == .sender ? .receiver : .sender }
  }

  let party: Party
  let sql: String
}

/// Something that goes wrong between two devices, with all that was done until then.
struct Counterexample: Sendable {
  let table: String
  /// Nil when it is about the table.
  var column: Identifier?
  let harm: Harm
  /// What the sender does, in words.
  let deeds: String
  /// What both run; the last one shows the harm.
  let steps: [Step]
  let tables: Set<Identifier>
}
