import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `V1__create_users.sql`, `V1.2__…`, and repeatable migrations, `R__views.sql`.
enum Flyway: ForeignFormat {
  private struct Version: Comparable {
    /// The version as the ledger records it: `1.2`.
    let text: String
    private let parts: [MigrationNumber]

    init?(_ text: String) {
      let parts = text.split(
        omittingEmptySubsequences: false, whereSeparator: { $0 == "." || $0 == "_" }
      ).map(String.init)
      guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }) else { return nil }
      self.text = parts.joined(separator: ".")
      self.parts = parts.map { MigrationNumber(id: $0) }
    }

    static func < (a: Version, b: Version) -> Bool {
      a.parts.lexicographicallyPrecedes(b.parts)
    }
    static func == (a: Version, b: Version) -> Bool { a.parts == b.parts }
  }

  private static func split(_ path: String, prefix: String) -> (version: String, name: String)? {
    guard let name = stem(fileName(path), without: ".sql"), name.hasPrefix(prefix) else {
      return nil
    }
    let bytes = Array(name.utf8.dropFirst(prefix.utf8.count))
    let mark = bytes.indices.dropLast().first { index in
      bytes[index] == UInt8(ascii: "_") && bytes[index + 1] == UInt8(ascii: "_")
    }
    guard let mark else { return (String(decoding: bytes, as: UTF8.self), "migration") }
    return (
      String(decoding: bytes[..<mark], as: UTF8.self),
      String(decoding: bytes[(mark + 2)...], as: UTF8.self)
    )
  }

  static func recognises(_ source: SourceFiles) -> Bool {
    source.scripts.contains { path in
      fileName(path).contains("__")
        && split(path, prefix: "V").flatMap { Version($0.version) } != nil
    }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    var versions: [(version: Version, name: String, path: String)] = []
    for path in reader.source.scripts {
      if let (version, name) = split(path, prefix: "V"), let version = Version(version) {
        versions.append((version, name, path))
      } else if split(path, prefix: "U") != nil {
        reader.note(
          path, Position(line: 1, column: 1), kind: .down,
          "`import` skips the undo migration")
      } else if split(path, prefix: "B").flatMap({ Version($0.version) }) != nil {
        reader.note(
          path, Position(line: 1, column: 1), kind: .file,
          "`import` skips the baseline: the migrations give the same schema")
      }
    }
    versions.sort { $0.version < $1.version }
    for (version, name, path) in versions {
      let isPlain = !version.text.utf8.contains(UInt8(ascii: "."))
      reader.add(
        number: isPlain ? version.text : "", name: name, path,
        try part(&reader, path), entry(version.text))
    }
    guard let last = versions.last else { return }
    for path in reader.source.scripts where fileName(path).hasPrefix("R__") {
      guard let name = split(path, prefix: "R")?.name else { continue }
      reader.note(
        path, Position(line: 1, column: 1), kind: .decision,
        "the repeatable migration runs once, after version \(last.version.text): put its next change "
          + "into a new migration")
      // Flyway runs the migration again after every change of the file, so only its latest form is known.
      reader.add(
        number: successor(reader.steps.last?.number ?? ""), name: name, path,
        try part(&reader, path), entry(last.version.text))
    }
  }

  private static func part(_ reader: inout ForeignHistory, _ path: String) throws(Failure) -> UpPart
  {
    let part = try reader.part(path)
    let bytes = part.file.sql.bytes
    for index in bytes.indices.dropLast()
    where bytes[index] == UInt8(ascii: "$") && bytes[index + 1] == UInt8(ascii: "{") {
      reader.problem(
        path, part.file.position(index), "write the value of the placeholder in its place")
    }
    return part
  }

  private static func entry(_ version: String) -> ReplacedEntries {
    ReplacedEntries("flyway_schema_history", .flyway, version)
  }

  private static func successor(_ number: String) -> String {
    UInt64(number).map { "\($0 + 1)" } ?? ""
  }
}
