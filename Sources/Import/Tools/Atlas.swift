import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users.sql` next to `atlas.sum`.
enum Atlas: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool { source.has("atlas.sum") }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)) else { continue }
      let part = try reader.part(path)
      for remark in part.file.remarks where remark.text.hasPrefix("atlas:txmode none") {
        reader.noteTransaction(path, part.file, remark, remark.text)
      }
      reader.add(
        number: version, name: stem(rest, without: ".sql") ?? rest, path, part,
        ReplacedEntries("atlas_schema_revisions", .atlas, version))
    }
  }
}
