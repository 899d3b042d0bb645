import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users/migration.sql`.
enum Prisma: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool {
    source.scripts.contains { path in
      fileName(path) == "migration.sql" && !folderName(path).isEmpty
        && !source.has(folderName(path) + "/snapshot.json")
    }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    let scripts = reader.source.scripts.filter { fileName($0) == "migration.sql" }
      .map { (name: fileName(folderName($0)), path: $0) }.sorted { $0.name < $1.name }
    for (folder, path) in scripts {
      guard let (number, name) = leadingNumber(folder) ?? Optional(("", folder)) else { continue }
      reader.add(
        number: number, name: name, path, try reader.part(path),
        ReplacedEntries("_prisma_migrations", .prisma, folder))
    }
  }
}
