import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users.sql`, or `….up.sql` and `….down.sql`, in a project that uses sqlx.
enum Sqlx: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool {
    source.scripts.contains { leadingNumber(fileName($0)) != nil }
      && source.projectFile("Cargo.toml", holds: "sqlx")
  }

  static func read(_ reader: inout HistoryReader) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)), rest.hasPrefix("_") else {
        continue
      }
      if stem(rest, without: ".down.sql") != nil {
        try reader.noteDown(file: path)
      } else if let name = stem(rest, without: ".up.sql") ?? stem(rest, without: ".sql") {
        let file = try reader.file(path)
        for remark in file.remarks where remark.text == "no-transaction" {
          reader.noteTransaction(path, file, remark, remark.text)
        }
        reader.add(
          number: version, name: name, path, UpPart(file, file.whole, of: reader.tool),
          ReplacedEntries("_sqlx_migrations", .sqlx, version.withoutLeadingZeros))
      }
    }
    reader.sort { MigrationNumber(id: $0.number) < MigrationNumber(id: $1.number) }
  }
}
