import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

/// A manifest that does nothing yet.
package struct NewManifest {
  private let name: String
  private let slug: String

  /// - Parameter name: what the migration does, in words.
  /// - Returns: nil when it holds neither a letter nor a digit, of which a file's name is made.
  package init?(name: String) {
    self.name = name
    slug = Self.slug(of: name)
    if slug.isEmpty { return nil }
  }

  /// - Parameter others: the ids of all present and earlier migrations.
  package func id(after others: [String], at time: Timestamp) -> String {
    Self.number(after: others, at: time) + "_" + slug
  }

  /// - Parameters:
  ///   - modeline: the comment that names the schema to an editor.
  ///   - operations: nil when they are for somebody to fill in.
  package func text(modeline: String, operations: [WrittenOperation]? = nil) -> String {
    if let operations { return modeline + "\n" + manifestText(description: name, operations) }
    return """
      \(modeline)
      description: \(yamlScalar(name))
      operations: []
      # Instead of `[]`, an entry for each change, in order:
      #   - add_column:
      #       table: reminders
      #       column: { name: priority, type: INTEGER }

      """
  }

  /// File systems take names of 255 bytes.
  private static let maximumSlugBytes = 80

  /// Letters, of any script, and digits in lower case; `_` for everything between them.
  private static func slug(of name: String) -> String {
    var slug = ""
    var isBetweenWords = false
    for scalar in name.lowercased().unicodeScalars {
      guard scalar.isOfWord else {
        isBetweenWords = true
        continue
      }
      let separator = isBetweenWords && !slug.isEmpty ? "_" : ""
      guard slug.utf8.count + separator.utf8.count + UTF8.width(scalar) <= maximumSlugBytes
      else { break }
      slug += separator
      slug.unicodeScalars.append(scalar)
      isBetweenWords = false
    }
    return slug
  }

  /// At least four digits.
  private static func number(after ids: [String], at time: Timestamp) -> String {
    let last = ids.max { MigrationNumber(id: $0) < MigrationNumber(id: $1) }
    return padded(MigrationNumber.digits(after: last ?? "0", at: time), 4)
  }
}

extension Unicode.Scalar {
  /// Also the marks that are part of a letter, and stand by themselves in decomposed text.
  fileprivate var isOfWord: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }
}
