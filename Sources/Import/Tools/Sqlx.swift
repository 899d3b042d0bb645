import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users.sql`, or `….up.sql` and `….down.sql`, in a project that uses sqlx.
enum Sqlx: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool {
    source.scripts.contains { leadingNumber(fileName($0)) != nil }
      && source.projectFile("Cargo.toml", holds: "sqlx")
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)), rest.hasPrefix("_") else {
        continue
      }
      if stem(rest, without: ".down.sql") != nil {
        reader.noteDown(file: path)
      } else if let name = stem(rest, without: ".up.sql") ?? stem(rest, without: ".sql") {
        let part = try reader.part(path)
        for remark in part.file.remarks where remark.text == "no-transaction" {
          reader.noteTransaction(path, part.file, remark, remark.text)
        }
        reader.add(
          number: version, name: name, path, part,
          ReplacedEntries("_sqlx_migrations", .sqlx, "\(MigrationNumber(id: version))"))
      }
    }
    reader.sortByNumber()
  }
}
