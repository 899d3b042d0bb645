import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaYAML

/// `0000_name.sql` with `meta/_journal.json`, which says in which order and when each was written.
enum Drizzle: ForeignFormat {
  private static let journal = "meta/_journal.json"

  static func recognises(_ source: SourceFiles) -> Bool { source.has(journal) }

  static func read(_ reader: inout HistoryReader) throws(Failure) {
    let file = reader.source.shown(journal)
    let document: Document
    do {
      document = try YAMLReader.read(try reader.source.bytes(journal), file: file)
    } catch let input as InvalidInput {
      throw Failure(
        .invalidInput, input.diagnostics.first?.message ?? "the journal cannot be read",
        place: Failure.Place(file: file, position: input.diagnostics.first?.position))
    } catch {
      throw Failure(of: error, database: file)
    }
    guard let root = document.root else { return }
    for entry in Fields(root).elements("entries") {
      let fields = Fields(entry)
      guard let tag = fields["tag"]?.scalar?.text, let time = fields["when"]?.scalar?.text else {
        reader.problem(journal, entry.position, "the entry has no `tag` or no `when`")
        continue
      }
      let path = tag + ".sql"
      guard reader.source.has(path) else {
        reader.problem(journal, entry.position, "the file \(path) is missing")
        continue
      }
      let (number, name) = leadingNumber(tag) ?? ("", tag)
      let script = try reader.file(path)
      var part = UpPart(script, script.whole)
      for token in script.sql.tokens
      where token.kind == .comment
        && script.sql.text(token).hasPrefix("--> statement-breakpoint")
      {
        part.remove(separator: token.range)
      }
      reader.add(
        number: number, name: name, path, part,
        ReplacedEntries("__drizzle_migrations", .drizzle, time))
    }
  }
}
