import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users.sql` with `-- migrate:up` and `-- migrate:down`.
enum Dbmate: ForeignFormat {
  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    try source.holdsRemark { $0.hasPrefix("migrate:up") }
  }

  static func read(_ reader: inout HistoryReader) throws(Failure) {
    // dbmate sorts by the name of the file.
    for path in reader.source.scripts.sorted(by: { fileName($0) < fileName($1) }) {
      guard let (version, rest) = leadingNumber(fileName(path)) else { continue }
      let file = try reader.file(path)
      let marks = file.remarks.filter { $0.text.hasPrefix("migrate:") }
      guard let up = marks.first(where: { $0.text.hasPrefix("migrate:up") }) else {
        reader.problem(path, nil, "the line `-- migrate:up` is missing")
        continue
      }
      let down = marks.first { $0.text.hasPrefix("migrate:down") }
      let end = down.map { $0.range.lowerBound > up.range.lowerBound ? $0.range.lowerBound : nil }
      let part = UpPart(
        file, up.range.upperBound..<((end ?? nil) ?? file.whole.upperBound), of: reader.tool)
      reader.noteTransaction(path, file, up, "transaction:false")
      if let down { reader.noteDown(path, file, down.range) }
      reader.add(
        number: version, name: stem(rest, without: ".sql") ?? rest, path, part,
        ReplacedEntries("schema_migrations", .dbmate, version))
    }
  }
}

extension HistoryReader {
  /// Lists a down section, unless it is empty.
  mutating func noteDown(_ path: String, _ file: ForeignFile, _ mark: Range<Int>) {
    let rest = mark.upperBound..<file.whole.upperBound
    guard rest.lowerBound < rest.upperBound, !file.sql.significant(in: rest).isEmpty else { return }
    note(
      path, file.position(mark.lowerBound), kind: .down, "the down section is not imported")
  }

  /// Lists a mark that asks for no transaction.
  mutating func noteTransaction(
    _ path: String, _ file: ForeignFile, _ mark: (text: String, range: Range<Int>), _ word: String
  ) {
    guard mark.text.contains(word) else { return }
    note(
      path, file.position(mark.range.lowerBound), kind: .decision,
      "`\(word)`: schemactl runs the migration in a transaction")
  }
}
