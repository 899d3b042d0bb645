import ManifestFormat
import SQLText

/// A text in double quotes, as both YAML and people read it.
func quotedInYAML(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\t": result += "\\t"
    case _ where scalar.value < 0x20 || scalar.value == 0x7F:
      let digits = String(scalar.value, radix: 16)
      result += "\\x" + String(repeating: "0", count: 2 - digits.count) + digits
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

extension Literal {
  /// The value as a manifest writes it.
  var yaml: String {
    switch self {
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): quotedInYAML(text)
    case .blob(let bytes):
      "{ blob: \"\(Quoting.blobLiteral(bytes).dropFirst(2).dropLast())\" }"
    case .sql(let source): "{ sql: \(quotedInYAML(source.text)) }"
    }
  }
}
