import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaYAML

/// The rows that a virtual table itself stores, when it is recreated with other arguments. Saves and restores the
/// columns that both have.
struct VirtualRows {
  let table: String
  private let columns: [String]
  private let hasRowid: Bool

  private static let textModules: [Identifier] = ["fts3", "fts4", "fts5"]
  private static let boxModules: [Identifier] = ["rtree", "rtree_i32"]

  /// Nil if there are no rows to save, or no known way: an external-content table has the rows of another table,
  /// and the module may belong to the application.
  init?(of old: SchemaObject, in new: SchemaObject) {
    guard let (module, before) = Self.columns(of: old),
      let (newModule, after) = Self.columns(of: new), module == newModule
    else { return nil }
    columns = before.filter { name in
      after.contains { $0.identifier == name.identifier }
    }
    guard !columns.isEmpty else { return nil }
    table = new.name
    hasRowid = Self.textModules.contains(module)
  }

  private static func columns(of object: SchemaObject) -> (module: Identifier, columns: [String])? {
    let tokens = TokenizedSQL(object.sql ?? "")
    guard case .createVirtualTable(let virtual)? = try? parseCreate(tokens) else { return nil }
    let module = virtual.module.text.identifier
    guard (textModules + boxModules).contains(module) else { return nil }
    var columns: [String] = []
    for argument in virtual.arguments {
      let words = tokens.significant(in: argument).map(tokens.text)
      if words.count > 1, words[1] == "=" {
        if words[0].identifier == "content" { return nil }
      } else if let name = words.first(where: { $0 != "+" }), name.identifier != "tokenize" {
        columns.append(Quoting.unquoted(name))
      }
    }
    return (module, columns)
  }

  private var copy: String { "temp.\(Quoting.quoted("kept_" + table))" }

  private var names: String {
    ((hasRowid ? ["rowid"] : []) + columns.map { Quoting.quoted($0) }).joined(separator: ", ")
  }

  var saving: WrittenOperation {
    let first = hasRowid ? "rowid AS kept_rowid, " : ""
    let list = quotedList(columns)
    return WrittenOperation(
      sql: "CREATE TABLE \(copy) AS SELECT \(first)\(list) FROM \(Quoting.quoted(table));")
  }

  var restoring: WrittenOperation {
    WrittenOperation(
      sql: """
        INSERT INTO \(Quoting.quoted(table)) (\(names)) SELECT * FROM \(copy);
        DROP TABLE \(copy);
        """)
  }
}
