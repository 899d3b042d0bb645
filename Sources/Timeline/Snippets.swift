import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

// Parts of manifests for the help of findings.

extension ColumnDefinition {
  /// The column as a manifest writes it, on one line.
  package var yaml: String {
    let tokens = TokenizedSQL("CREATE TABLE t (\(sql))")
    guard case .createTable(let table)? = try? parseCreate(tokens) else { return "" }
    return flow(table.columns.flatMap { $0.keys(tokens) })
  }

  /// The same column with a default for rows that do not set it.
  package func withDefault() -> ColumnDefinition {
    var column = self
    if column.default == nil || column.default == .null {
      column.default = .value(.empty(ofType: type))
    }
    return column
  }
}

extension Value {
  /// A neutral value for a column of this type.
  package static func empty(ofType type: String?) -> Value {
    switch Affinity(ofType: type ?? "") {
    case .text: .text("")
    case .blob: .blob([])
    case .integer, .numeric, .real: .integer(0)
    }
  }
}

/// An entry of `operations` as a manifest writes it, for keys with short values.
package func operationSnippet(_ name: String, _ keys: [(String, String)]) -> String {
  WrittenOperation(name, keys).lines.joined(separator: "\n")
}

/// The pairs of a `map`, as a manifest writes them.
package func pairs(_ values: [MappedValue]) -> String {
  values.map { "\($0.from.yaml): \($0.to.yaml)" }.joined(separator: ", ")
}

extension [MappedValue] {
  /// The inverse map. If several values become one value, the inverse returns the first of them.
  package var inverted: [MappedValue] {
    var seen: Set<Value> = []
    return filter { seen.insert($0.to).inserted }.map { MappedValue(from: $0.to, to: $0.from) }
  }
}

extension Value {
  /// The value in a manifest's notation.
  package var yaml: String {
    switch self {
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): yamlQuoted(text)
    case .blob(let bytes):
      flow([("blob", "\"\(Quoting.blobLiteral(bytes).dropFirst(2).dropLast())\"")])
    }
  }
}
