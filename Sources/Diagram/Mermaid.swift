import SchemaModel
import SchemaSQLText

extension Diagram {
  /// The diagram as Mermaid's `erDiagram`, which GitHub renders. Words mark changes.
  ///
  /// Names that Mermaid's grammar does not accept are replaced. Then a label or a comment shows the original
  /// name.
  package var mermaid: String {
    var lines = ["erDiagram"]
    let ids = entityIDs
    for (index, table) in tables.enumerated() {
      let suffix = missing.contains(table.name) ? " (missing)" : table.mark.suffix
      let shown = table.name.mermaidText + suffix
      let label = shown == ids[index] ? "" : "[\"\(shown)\"]"
      guard !table.columns.isEmpty else {
        lines.append("  \(ids[index])\(label)")
        continue
      }
      lines.append("  \(ids[index])\(label) {")
      lines += attributes(of: table).map { "    " + $0 }
      lines.append("  }")
    }
    for reference in references {
      let parent = reference.isOptional ? "|o" : "||"
      let child = reference.isUnique ? "o|" : "o{"
      let line = reference.isIdentifying ? "--" : ".."
      let label =
        reference.key.columns.map(\.mermaidText).joined(separator: ", ") + reference.mark.suffix
      lines.append(
        "  \(ids[reference.parent]) \(parent)\(line)\(child) \(ids[reference.child]) : \"\(label)\""
      )
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func attributes(of table: Table) -> [String] {
    var known: Set<Identifier> = []
    let keys = references.filter { tables[$0.child].name == table.name }.flatMap(\.key.columns)
    return table.columns.map { column, mark in
      let type = column.type.isEmpty ? "untyped" : column.type.mermaidWord
      var name = column.name.mermaidWord
      while !known.insert(name) { name += "_" }
      let marks = [
        column.keyPosition > 0 ? "PK" : nil,
        keys.contains { $0.isSameName(as: column.name) } ? "FK" : nil,
        column.keyPosition == 0 && table.outline.isUnique([column.name]) ? "UK" : nil,
      ].compactMap { $0 }
      let comments = [
        name == column.name ? nil : column.name.mermaidText,
        type == column.type || column.type.isEmpty ? nil : column.type.mermaidText,
        mark == .same ? nil : mark.rawValue,
      ].compactMap { $0 }
      return "\(type) \(name)"
        + (marks.isEmpty ? "" : " \(marks.joined(separator: ", "))")
        + (comments.isEmpty ? "" : " \"\(comments.joined(separator: ", "))\"")
    }
  }

  /// A unique id of letters, digits and underscores for each table.
  private var entityIDs: [String] {
    var known: Set<Identifier> = []
    return tables.map { table in
      // Parentheses are part of a type, but not of a name.
      var id = table.name.mermaidWord.replacing("(", with: "_").replacing(")", with: "_")
      if entityKeywords.contains(id) { id += "_" }
      while !known.insert(id) { id += "_" }
      return id
    }
  }
}

/// Words that Mermaid's lexer does not accept as the name of an entity, in any letter case (erDiagram.jison).
private let entityKeywords: Set<Identifier> = [
  "accTitle", "accDescr", "class", "classDef", "direction", "end", "erDiagram", "many", "one",
  "only",
  "optionally", "style", "subgraph", "title", "to", "u", "zero", "o", "pk", "fk", "uk",
]

extension String {
  /// The text as one word in Mermaid's grammar.
  fileprivate var mermaidWord: String {
    var word = ""
    var isInParentheses = false
    for byte in utf8 {
      let scalar = Unicode.Scalar(byte)
      switch scalar {
      case "a"..."z", "A"..."Z", "_": word.unicodeScalars.append(scalar)
      case "0"..."9" where !word.isEmpty: word.unicodeScalars.append(scalar)
      // `VARCHAR(255)`
      case "(" where !word.isEmpty && !isInParentheses, ")" where isInParentheses:
        isInParentheses = scalar == "("
        word.unicodeScalars.append(scalar)
      // Replace a character beyond ASCII with one underscore.
      case _ where byte & 0xC0 == 0x80: break
      default: word += word.isEmpty && ("0"..."9").contains(scalar) ? "_\(scalar)" : "_"
      }
    }
    if word.isEmpty || ["pk", "fk", "uk"].contains(where: word.isSameName) { word = "_" + word }
    return word
  }

  /// The text for double quotes in Mermaid. Shows a character as its code point, such as `U+0022`, if it ends
  /// the quotes, starts a directive or an entity, or is invisible.
  fileprivate var mermaidText: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"", "%", "\\", "#", ";", "<", ">", "&", "`", "{", "}", "[", "]", "~":
        text += scalar.codePoint
      case " ":
        // The lexer searches for `direction LR` anywhere in a line.
        let isAfterDirection =
          text.utf8.count >= 9 && String(text.suffix(9)).isSameName(as: "direction")
        text += isAfterDirection ? "_" : " "
      case _ where !scalar.isHarmless || scalar.properties.isWhitespace: text += scalar.codePoint
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text.utf8.allSatisfy { $0 == UInt8(ascii: " ") } ? "U+0020" : text
  }
}
