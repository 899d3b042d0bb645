import SchemaModel
import SchemaPlanning
import SchemaSQLText

/// A CREATE statement for a connection without the app's functions. A DEFAULT that calls such a
/// function is replaced by a DEFAULT with another value. The value does not matter, because it only
/// replaces a NULL that a device receives.
struct PortableSQL {
  let text: String
  /// The missing functions that the statement still calls; folded.
  let missing: Set<Identifier>

  /// - Parameter functions: the missing functions; folded.
  init(_ sql: String, without functions: Set<Identifier>) {
    let tokens = TokenizedSQL(sql)
    var bytes = tokens.bytes
    if !functions.isEmpty, case .createTable(let table)? = try? parseCreate(tokens) {
      for column in table.columns.reversed() {
        guard let value = column.defaultExpression,
          !tokens.calls(in: value.range).isDisjoint(with: functions)
        else { continue }
        bytes.replaceSubrange(value.outerRange, with: column.anyValue.utf8)
      }
    }
    text = String(decoding: bytes, as: UTF8.self)
    let portable = TokenizedSQL(bytes: bytes)
    missing = portable.calls(in: 0..<bytes.count).intersection(functions)
  }
}

extension CreateTable.Column {
  /// An expression that returns a new value of the column's type for each row.
  fileprivate var anyValue: String {
    switch Affinity(ofType: type?.text ?? "") {
    case .integer, .numeric, .real: "(abs(random() % 1000000000))"
    case .blob where type != nil: "(randomblob(16))"
    case .text, .blob: "(hex(randomblob(16)))"
    }
  }
}

extension Schema {
  /// The same schema for a private database without these functions.
  func portable(without functions: Set<Identifier>) -> Schema {
    guard !functions.isEmpty else { return self }
    return Schema(
      objects: objects.map { object in
        guard object.kind == .table, let sql = object.sql else { return object }
        return SchemaObject(
          kind: object.kind, name: object.name, table: object.table,
          sql: PortableSQL(sql, without: functions).text, rootPage: object.rootPage)
      })
  }
}

extension TokenizedSQL {
  /// The folded names of the functions that a byte range calls.
  fileprivate func calls(in range: Range<Int>) -> Set<Identifier> {
    let tokens = significant(in: range)
    return Set(
      zip(tokens, tokens.dropFirst()).compactMap { name, next in
        name.kind == .word && text(next) == "(" ? text(name).identifier : nil
      })
  }
}
