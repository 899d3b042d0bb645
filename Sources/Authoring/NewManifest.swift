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

  /// - Parameter others: the ids of every migration that is there, or was.
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

  /// Letters, of any script, and digits in lower case; `_` for all that stands between them.
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

  /// One more than the highest number, as wide as it and at least four digits, or the time when the
  /// highest is a time: `20261120130000`.
  private static func number(after ids: [String], at time: Timestamp) -> String {
    guard let last = ids.max(by: { MigrationNumber(id: $0) < MigrationNumber(id: $1) })
    else { return "0001" }
    let digits = last.utf8.prefix(while: \.isDigit)
    if digits.count >= 12, digits.first != UInt8(ascii: "0") {
      let now = String(decoding: time.description.utf8.filter(\.isDigit).prefix(14), as: UTF8.self)
      // Two in one second, or a clock that was ahead.
      if MigrationNumber(id: last) < MigrationNumber(id: now) { return now }
    }
    let next = successor(of: Array(digits))
    return String(repeating: "0", count: max(0, 4 - next.utf8.count)) + next
  }

  private static func successor(of number: [UInt8]) -> String {
    let nines = number.reversed().prefix { $0 == UInt8(ascii: "9") }.count
    var digits = Array(number.dropLast(nines))
    if let last = digits.popLast() {
      digits.append(last + 1)
    } else {
      digits = [UInt8(ascii: "1")]
    }
    return String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: nines)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
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
