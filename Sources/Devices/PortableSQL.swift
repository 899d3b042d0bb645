import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaTimeline
import SchemaTrials

/// A CREATE statement for a place where functions of the app are missing: a DEFAULT that calls one
/// becomes another one that gives a value. Which value makes no difference where it is used here: in
/// the place of a NULL that a device receives.
struct PortableSQL {
  let text: String
  /// Functions that it calls all the same; folded.
  let missing: Set<Identifier>

  /// - Parameter functions: those that are missing; folded.
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
  /// A new value of the column's type in each row.
  fileprivate var anyValue: String {
    switch Affinity(ofType: type?.text ?? "") {
    case .integer, .numeric, .real: "(abs(random() % 1000000000))"
    case .blob where type != nil: "(randomblob(16))"
    case .text, .blob: "(hex(randomblob(16)))"
    }
  }
}

extension Schema {
  /// For a private database where functions of the app are missing.
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
  /// The folded names of the functions that are called inside a byte range.
  fileprivate func calls(in range: Range<Int>) -> Set<Identifier> {
    let tokens = significant(in: range)
    return Set(
      zip(tokens, tokens.dropFirst()).compactMap { name, next in
        name.kind == .word && text(next) == "(" ? text(name).identifier : nil
      })
  }
}
