import SQLText
import SchemaModel

/// What the rules look at in a table's definition.
struct TableShape: Sendable {
  struct Column: Sendable {
    let name: String
    let type: String?
    /// The conflict clause of NOT NULL; nil when the column may be NULL.
    let notNull: CreateTable.ConflictAction?
    /// The DEFAULT as it is written; nil when there is none or it is NULL.
    let defaultText: String?
    let isGenerated: Bool
  }

  struct PrimaryKey: Sendable, Hashable {
    /// Folded, in the order of the key.
    let columns: [String]
    let isAutoincrement: Bool
  }

  struct ForeignKey: Sendable, Hashable {
    /// In folded spelling.
    let columns: [String]
    let parent: String
    let onDelete: CreateTable.ForeignKeyAction
  }

  var name: String
  let isVirtual: Bool
  let columns: [Column]
  let primaryKey: PrimaryKey?
  /// The columns of each UNIQUE constraint, in folded spelling.
  let uniques: [[String]]
  let foreignKeys: [ForeignKey]

  /// Nil when the stored text cannot be read, which only an edit of `sqlite_schema` can bring about.
  init?(_ object: SchemaObject) {
    let tokens = TokenizedSQL(object.sql ?? "")
    name = object.name
    switch try? parseCreate(tokens) {
    case .createVirtualTable?:
      isVirtual = true
      columns = []
      primaryKey = nil
      uniques = []
      foreignKeys = []
    case .createTable(let table)?:
      isVirtual = false
      columns = table.columns.map { Column($0, tokens) }
      primaryKey = PrimaryKey(table)
      uniques = uniqueConstraints(of: table, tokens)
      foreignKeys = ForeignKey.all(of: table)
    default: return nil
    }
  }

  func column(_ name: String) -> Column? {
    let key = name.asciiLowercased
    return columns.first { $0.name.asciiLowercased == key }
  }

  func isInPrimaryKey(_ column: Column) -> Bool {
    primaryKey?.columns.contains(column.name.asciiLowercased) ?? false
  }
}

extension TableShape.Column {
  fileprivate init(_ column: CreateTable.Column, _ tokens: TokenizedSQL) {
    name = column.name.text
    type = column.type?.text
    notNull = column.notNull
    isGenerated = column.generated != nil
    defaultText = column.defaultExpression.flatMap { expression in
      tokens.text(expression.range).asciiLowercased == "null"
        ? nil : tokens.text(expression.outerRange)
    }
  }

  /// INTEGER affinity (Datatypes In SQLite, section 3.1).
  var isInteger: Bool { type?.asciiLowercased.contains("int") ?? false }
}

/// A value of a type, as SQL, that says nothing: for a DEFAULT.
func emptyValue(ofType type: String?) -> String {
  let type = type?.asciiLowercased ?? ""
  if type.contains("int") { return "0" }
  if ["char", "clob", "text"].contains(where: type.contains) { return "''" }
  return type.isEmpty || type.contains("blob") ? "x''" : "0"
}

extension TableShape.PrimaryKey {
  fileprivate init?(_ table: CreateTable) {
    for column in table.columns {
      guard let key = column.primaryKey else { continue }
      self.init(columns: [column.name.text.asciiLowercased], isAutoincrement: key.isAutoincrement)
      return
    }
    for constraint in table.constraints {
      guard case .primaryKey(let terms, let isAutoincrement, _) = constraint.kind else { continue }
      self.init(
        columns: terms.compactMap { $0.column?.text.asciiLowercased },
        isAutoincrement: isAutoincrement)
      return
    }
    return nil
  }
}

extension TableShape.ForeignKey {
  fileprivate static func all(of table: CreateTable) -> [TableShape.ForeignKey] {
    let inline = table.columns.flatMap { column in
      column.references.map { TableShape.ForeignKey([column.name], $0) }
    }
    return inline
      + table.constraints.compactMap { constraint in
        guard case .foreignKey(let columns, let reference) = constraint.kind else { return nil }
        return TableShape.ForeignKey(columns, reference)
      }
  }

  private init(_ columns: [Name], _ reference: CreateTable.Reference) {
    self.columns = columns.map(\.text.asciiLowercased)
    parent = reference.table.text
    onDelete = reference.onDelete
  }
}

private func uniqueConstraints(of table: CreateTable, _ tokens: TokenizedSQL) -> [[String]] {
  table.columns.filter(\.isUnique).map { [$0.name.text.asciiLowercased] }
    + table.constraints.compactMap { constraint in
      guard case .unique(let terms, _) = constraint.kind else { return nil }
      return terms.map { ($0.column?.text ?? tokens.text($0.range)).asciiLowercased }
    }
}
