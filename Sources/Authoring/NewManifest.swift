import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
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

  /// Writes the manifest after all others of a history and, if it is missing, the JSON Schema that its
  /// first line names.
  ///
  /// - Parameter operations: nil when they are for somebody to fill in.
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
