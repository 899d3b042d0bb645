import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `structure.sql`, which contains the schema and the versions of its migrations, or SQL files that are named
/// by their versions.
enum Rails: ForeignFormat {
  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    for path in source.scripts where leadingNumber(fileName(path)) == nil {
      let file = try ForeignFile(source.shown(path), bytes: source.bytes(path))
      if !versions(file).isEmpty { return true }
    }
    return false
  }

  /// Returns the versions that a dump contains: `INSERT INTO "schema_migrations" (version) VALUES ('2020…')`.
  private static func versions(_ file: ForeignFile) -> [String] {
    file.statements(in: file.whole).flatMap { statement -> [String] in
      let names = file.names(statement)
      guard names.first == "INSERT", names.prefix(3).contains("schema_migrations") else {
        return []
      }
      return zip(statement.words, names).filter { $0.0.kind == .string }.map(\.1.text)
        .filter { $0.utf8.allSatisfy(\.isDigit) }
    }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      let part = try reader.part(path)
      let versions = versions(part.file).sorted {
        MigrationNumber(id: $0) < MigrationNumber(id: $1)
      }
      if let last = versions.last {
        reader.add(
          number: last, name: stem(fileName(path), without: ".sql") ?? "structure", path, part,
          ReplacedEntries(
            ledger: "schema_migrations", kind: .rails, column: nil, entries: versions))
      } else if let (version, rest) = leadingNumber(fileName(path)) {
        reader.add(
          number: version, name: stem(rest, without: ".sql") ?? rest, path, part,
          ReplacedEntries("schema_migrations", .rails, version))
      }
    }
    reader.sortByNumber()
  }
}
