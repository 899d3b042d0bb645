import SchemaManifest
import SchemaSQLText

extension Literal {
  /// The value in a manifest's notation.
  package var yaml: String {
    switch self {
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): yamlQuoted(text)
    case .blob(let bytes):
      "{ blob: \"\(Quoting.blobLiteral(bytes).dropFirst(2).dropLast())\" }"
    case .sql(let source): "{ sql: \(yamlQuoted(source.text)) }"
    }
  }
}
