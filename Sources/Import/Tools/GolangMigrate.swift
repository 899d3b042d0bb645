import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `000001_create_users.up.sql` and `000001_create_users.down.sql`.
enum GolangMigrate: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool {
    source.scripts.contains { path in
      stem(path, without: ".up.sql") != nil && leadingNumber(fileName(path)) != nil
    }
  }

  static func read(_ reader: inout HistoryReader) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)) else { continue }
      if stem(rest, without: ".down.sql") != nil {
        try reader.noteDown(file: path)
      } else if let name = stem(rest, without: ".up.sql") {
        let file = try reader.file(path)
        reader.add(
          number: version, name: name, path, UpPart(file, file.whole, of: reader.tool),
          ReplacedEntries("schema_migrations", .golangMigrate, version.withoutLeadingZeros))
      }
    }
    reader.sort { MigrationNumber(id: $0.number) < MigrationNumber(id: $1.number) }
  }
}

extension HistoryReader {
  /// Lists a file that takes a migration back.
  mutating func noteDown(file path: String) throws(Failure) {
    note(
      path, Position(line: 1, column: 1), kind: .down, "the down migration is not imported")
  }
}
