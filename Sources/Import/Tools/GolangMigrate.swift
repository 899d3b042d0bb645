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

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)) else { continue }
      if stem(rest, without: ".down.sql") != nil {
        reader.noteDown(file: path)
      } else if let name = stem(rest, without: ".up.sql") {
        reader.add(
          number: version, name: name, path, try reader.part(path),
          ReplacedEntries("schema_migrations", .golangMigrate, "\(MigrationNumber(id: version))"))
      }
    }
    reader.sortByNumber()
  }
}

extension ForeignHistory {
  /// Adds a note for a file that reverts a migration.
  mutating func noteDown(file path: String) {
    note(
      path, Position(line: 1, column: 1), kind: .down, "`import` skips the down migration")
  }
}
