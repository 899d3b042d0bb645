import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The tables between which a statement copies rows.
struct RowFlow {
  struct Table: Hashable {
    let name: Identifier
    let isTemporary: Bool
  }

  private(set) var read: Set<Table> = []
  private(set) var written: Set<Table> = []
  /// The temporary tables that the statement creates, which are also written.
  private(set) var created: Set<Identifier> = []

  init(_ statement: ReplayedStatement, _ before: Schema) {
    for event in statement.events {
      guard let name = event.first?.identifier, !name.isInternal else { continue }
      let table = Table(name: name, isTemporary: event.database == "temp")
      switch event.action {
      // Ignore reads inside triggers. SQLite uses the same field of the event for the name of a
      // view or a subquery.
      case .read where event.trigger.flatMap({ before.object(.trigger, $0) }) == nil:
        read.insert(table)
      case .insert where event.trigger == nil: written.insert(table)
      case .createTemporaryTable:
        created.insert(name)
        written.insert(Table(name: name, isTemporary: true))
      default: break
      }
    }
    if read.isEmpty, !written.isEmpty, let source = wholeSource(of: statement.sql) {
      read = [Table(name: source, isTemporary: before.object(.table, source) == nil)]
    }
  }

  /// The source of a copy of whole rows, from the statement's text. SQLite reports no columns as
  /// read when it copies a table's b-tree entries into a table of the same form (`INSERT INTO a
  /// SELECT * FROM b`).
  private func wholeSource(of text: String) -> Identifier? {
    let sql = TokenizedSQL(text)
    let tokens = sql.significant[...]
    guard let from = sql.firstWord(of: ["FROM"], in: tokens) else { return nil }
    var source = tokens[from...].dropFirst()
    if let dot = source.dropFirst().first, sql.text(dot) == "." { source = source.dropFirst(2) }
    return source.first.map(sql.name)
  }
}

extension AuthorizerAction {
  /// `SQLITE_CREATE_TEMP_TABLE`.
  package static let createTemporaryTable = AuthorizerAction(rawValue: 4)
  /// `SQLITE_CREATE_TEMP_TRIGGER` and `SQLITE_CREATE_TEMP_VIEW`.
  fileprivate static let createTemporaryTrigger = AuthorizerAction(rawValue: 5)
  fileprivate static let createTemporaryView = AuthorizerAction(rawValue: 6)
}

extension AuthorizerEvent {
  /// Whether the statement itself, or a foreign key action, writes rows of a table that is not
  /// temporary.
  var writesRows: Bool {
    [.insert, .update, .delete].contains(action) && trigger == nil && database != "temp"
      && first.map { !$0.identifier.isInternal } ?? false
  }

  var isTemporaryCreation: Bool {
    [.createTemporaryTable, .createTemporaryTrigger, .createTemporaryView].contains(action)
  }
}
