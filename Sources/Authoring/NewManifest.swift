import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// A manifest that is about to be created, with a file name derived from its description.
package struct NewManifest {
  private let name: String
  private let slug: String

  /// Creates a manifest with a description.
  ///
  /// - Parameter name: the description of the migration, in words.
  /// - Returns: nil if the description has neither a letter nor a digit for the file name.
  package init?(name: String) {
    self.name = name
    slug = Self.slug(of: name)
    if slug.isEmpty { return nil }
  }

  /// Returns the id of the manifest.
  ///
  /// - Parameter others: the ids of all current and earlier migrations.
  package func id(after others: [String], at time: Timestamp) -> String {
    Self.number(after: others, at: time) + "_" + slug
  }

  /// Returns the YAML text of the manifest.
  ///
  /// - Parameters:
  ///   - modeline: the comment that names the JSON Schema for an editor.
  ///   - operations: nil for an empty list with a commented example.
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

  /// Writes the manifest as the last one of a history. Also writes the JSON Schema that its first line names,
  /// if that file is missing.
  ///
  /// - Parameter operations: nil for an empty list with a commented example.
  package func write(
    _ operations: [WrittenOperation]?, to project: Project, _ files: inout ProjectFiles
  ) throws(FileError) -> (id: String, file: String) {
    let modeline = project.migrations.last?.modeline ?? ProjectFiles.manifestModeline
    let others = project.migrations.map(\.id) + (project.lock?.entries.map(\.id) ?? [])
    let id = id(after: others, at: .now)
    let file = project.folder.file(ofMigration: id)
    // Write the manifest last: once it exists, the command has finished.
    if modeline == ProjectFiles.manifestModeline { try files.writeManifestSchema() }
    try createFileAtomically(
      Array(text(modeline: modeline, operations: operations).utf8), at: file)
    return (id, file)
  }

  /// The limit for the part of a file name that comes from the description. File systems accept names of at
  /// most 255 bytes.
  private static let maximumSlugBytes = 80

  /// Returns the letters (of any script) and digits of a name in lower case, with `_` for all characters
  /// between words.
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

  /// Returns the next number, with at least four digits.
  private static func number(after ids: [String], at time: Timestamp) -> String {
    let last = ids.max { MigrationNumber(id: $0) < MigrationNumber(id: $1) }
    return padded(MigrationNumber.digits(after: last ?? "0", at: time), 4)
  }
}

extension Migration {
  /// The comment at the top of the manifest that names its JSON Schema.
  fileprivate var modeline: String? {
    bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
      .prefix { $0.first == UInt8(ascii: "#") }
      .map { String(decoding: $0, as: UTF8.self) }
      .first { $0.contains("yaml-language-server:") && $0.contains("$schema=") }
  }
}

extension Unicode.Scalar {
  /// Whether the character belongs to a word: a letter, a digit, or a combining mark of a letter in
  /// decomposed text.
  fileprivate var isOfWord: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }
}
