import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users.sql` beside `atlas.sum`.
enum Atlas: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool { source.has("atlas.sum") }

  static func read(_ reader: inout HistoryReader) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)) else { continue }
      let file = try reader.file(path)
      for remark in file.remarks where remark.text.hasPrefix("atlas:txmode none") {
        reader.noteTransaction(path, file, remark, remark.text)
      }
      reader.add(
        number: version, name: stem(rest, without: ".sql") ?? rest, path,
        UpPart(file, file.whole, of: reader.tool),
        ReplacedEntries("atlas_schema_revisions", .atlas, version))
    }
  }
}
