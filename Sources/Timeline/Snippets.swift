import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaYAML

// Parts of manifests that findings suggest.

extension ColumnDefinition {
  /// The column as a manifest writes it, on one line.
  package var yaml: String {
    var keys: [(String, String)] = [("name", yamlScalar(name))]
    func add(_ key: String, _ value: String?) {
      if let value { keys.append((key, value)) }
    }
    add("type", type.map(yamlScalar))
    add("primary_key", primaryKey ? "true" : nil)
    add("autoincrement", autoincrement ? "true" : nil)
    add("not_null", notNull?.yaml)
    add("default", `default`?.yaml)
    add("unique", unique ? "true" : nil)
    add("check", check.map { yamlQuoted($0.text) })
    add("collate", collate.map(yamlScalar))
    add("references", references?.yaml)
    add(
      "generated",
      generated.map { "{ as: \(yamlQuoted($0.expression.text)), stored: \($0.stored) }" })
    return mapping(keys)
  }

  /// The same column with a default for rows that do not set it.
  package func withDefault() -> ColumnDefinition {
    var column = self
    if column.default == nil || column.default == .null { column.default = .empty(ofType: type) }
    return column
  }
}

extension Literal {
  /// A neutral value for a column of this type.
  package static func empty(ofType type: String?) -> Literal {
    switch emptyValue(ofType: type) {
    case "0": .integer(0)
    case "''": .text("")
    default: .blob([])
    }
  }
}

/// An operation of keys with short values, as an entry of `operations`.
package func operationSnippet(_ name: String, _ keys: [(String, String)]) -> String {
  WrittenOperation(name, keys).lines.joined(separator: "\n")
}

package func list(_ names: [String]) -> String {
  "[\(names.map(yamlScalar).joined(separator: ", "))]"
}

private func mapping(_ keys: [(String, String)]) -> String {
  "{ \(keys.map { "\($0): \($1)" }.joined(separator: ", ")) }"
}

extension NotNull {
  fileprivate var yaml: String {
    switch self {
    case .plain: "true"
    case .onConflict(let action): "{ on_conflict: \(action.word) }"
    }
  }
}

extension Reference {
  fileprivate var yaml: String {
    var keys = [("table", yamlScalar(table))]
    if columns.count == 1 { keys.append(("column", yamlScalar(columns[0]))) }
    if let onDelete { keys.append(("on_delete", onDelete.word)) }
    if let onUpdate { keys.append(("on_update", onUpdate.word)) }
    if deferrable { keys.append(("deferrable", "true")) }
    return mapping(keys)
  }
}

/// The pairs of a `map`, as a manifest writes them.
package func pairs(_ values: [MappedValue]) -> String {
  values.map { "\($0.from.yaml): \($0.to.yaml)" }.joined(separator: ", ")
}

extension [MappedValue] {
  /// The inverse map. For several values with the same result, it returns to the first one.
  package var inverted: [MappedValue] {
    var seen: Set<Literal> = []
    return filter { seen.insert($0.to).inserted }.map { MappedValue(from: $0.to, to: $0.from) }
  }
}
