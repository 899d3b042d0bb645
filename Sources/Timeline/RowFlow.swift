import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The tables between which a statement copies rows; names are folded.
struct RowFlow {
  private(set) var read: Set<Identifier> = []
  private(set) var written: Set<Identifier> = []
  private(set) var temporaryRead: Set<Identifier> = []
  private(set) var temporaryWritten: Set<Identifier> = []
  private(set) var temporaryCreated: Set<Identifier> = []

  init(_ statement: ReplayedStatement, _ before: Schema) {
    for event in statement.events {
      guard let name = event.first?.identifier, !name.isInternal else { continue }
      let isTemporary = event.database == "temp"
      switch event.action {
      // Ignore copies inside triggers. SQLite reports a view or a subquery with the same field as a
      // trigger.
      case .read where !before.isInTrigger(event):
        if isTemporary { temporaryRead.insert(name) } else { read.insert(name) }
      case .insert where event.trigger == nil:
        if isTemporary { temporaryWritten.insert(name) } else { written.insert(name) }
      case .createTemporaryTable:
        temporaryCreated.insert(name)
        temporaryWritten.insert(name)
      default: break
      }
    }
    if read.isEmpty, temporaryRead.isEmpty { noteWholeTable(statement, before) }
  }

  /// Finds the source of a copy of whole rows in the statement's text. SQLite reports no columns as
  /// read when it copies a table's b-tree entries into a table of the same form (`INSERT INTO a
  /// SELECT * FROM b`).
  private mutating func noteWholeTable(_ statement: ReplayedStatement, _ before: Schema) {
    guard !written.isEmpty || !temporaryWritten.isEmpty else { return }
    let sql = TokenizedSQL(statement.sql)
    let tokens = sql.significant[...]
    guard let from = sql.firstWord(of: ["FROM"], in: tokens) else { return }
    var source = tokens[from...].dropFirst()
    if let dot = source.dropFirst().first, sql.text(dot) == "." { source = source.dropFirst(2) }
    guard let name = source.first.map(sql.name) else { return }
    if before.object(.table, name) != nil {
      read.insert(name)
    } else {
      temporaryRead.insert(name)
    }
  }
}

extension Schema {
  fileprivate func isInTrigger(_ event: AuthorizerEvent) -> Bool {
    guard let name = event.trigger else { return false }
    return object(.trigger, name) != nil
  }
}
