import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Between which tables a statement moves rows; names are folded.
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
      // What a trigger does is not the statement's own copying. A view or a subquery is named in
      // the same way as a trigger.
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

  /// SQLite names no column that is read where it copies a table entry by entry into one of the same
  /// shape (`INSERT INTO a SELECT * FROM b`), so the text has to say which table that is.
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
