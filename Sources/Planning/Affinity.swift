import SchemaModel

/// How a declared type stores values (Datatypes In SQLite, section 3.1).
package enum Affinity: Sendable {
  case text, numeric, integer, real, blob

  package init(ofType type: String) {
    let bytes = Array(type.asciiLowercased.utf8)
    func has(_ part: String) -> Bool {
      bytes.indices.contains { bytes[$0...].starts(with: part.utf8) }
    }
    self =
      if has("int") {
        .integer
      } else if has("char") || has("clob") || has("text") {
        .text
      } else if has("blob") || type.isEmpty {
        .blob
      } else if has("real") || has("floa") || has("doub") {
        .real
      } else {
        .numeric
      }
  }
}
