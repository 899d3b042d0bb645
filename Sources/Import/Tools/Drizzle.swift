import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaYAML

/// `0000_name.sql` and `meta/_journal.json`, which lists the files in order with the time at which each was
/// written. Since version 1.0, `20240105090000_name/migration.sql` and `snapshot.json`.
enum Drizzle: ForeignFormat {
  private static let journal = "meta/_journal.json"

  static func recognises(_ source: SourceFiles) -> Bool {
    source.has(journal) || !folders(source).isEmpty
  }

  /// Returns the folders that each contain a migration, in the order of their timestamps.
  private static func folders(_ source: SourceFiles) -> [String] {
    source.scripts.filter { path in
      fileName(path) == "migration.sql" && source.has(folderName(path) + "/snapshot.json")
    }.map(folderName).sorted()
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    guard reader.source.has(journal) else {
      for folder in folders(reader.source) {
        let name = fileName(folder)
        try add(name, folder + "/migration.sql", entry: name, to: &reader)
      }
      return
    }
    let file = reader.source.shown(journal)
    let document = try failing(on: file) {
      try YAMLReader.read(try reader.source.bytes(journal), file: file)
    }
    guard let root = document.root else { return }
    for entry in root.elements("entries") {
      guard let tag = entry["tag"]?.scalar?.text, let time = entry["when"]?.scalar?.text else {
        reader.problem(journal, entry.position, "the entry has no `tag` or no `when`")
        continue
      }
      let path = tag + ".sql"
      guard reader.source.has(path) else {
        reader.problem(journal, entry.position, "the file `\(path)` is missing")
        continue
      }
      try add(tag, path, entry: time, to: &reader)
    }
  }

  private static func add(
    _ tag: String, _ path: String, entry: String, to reader: inout ForeignHistory
  ) throws(Failure) {
    let (number, name) = leadingNumber(tag) ?? ("", tag)
    var part = try reader.part(path)
    for token in part.file.sql.tokens
    where token.kind == .comment
      && part.file.sql.text(token).hasPrefix("--> statement-breakpoint")
    {
      part.remove(separator: token.range)
    }
    reader.add(
      number: number, name: name, path, part,
      ReplacedEntries("__drizzle_migrations", .drizzle, entry))
  }
}
