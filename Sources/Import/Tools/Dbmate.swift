import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `20200101120000_create_users.sql` with `-- migrate:up` and `-- migrate:down`.
enum Dbmate: ForeignFormat {
  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    try source.holdsRemark { isMark("migrate:up", $0) || isMark("migrate:down", $0) }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    // dbmate sorts migrations by file name.
    for path in reader.source.scripts.sorted(by: { fileName($0) < fileName($1) }) {
      guard let (version, rest) = leadingNumber(fileName(path)) else { continue }
      let file = try reader.file(path)
      // dbmate reads only markers at the start of a line.
      let marks = file.remarks.filter { file.sql.bytes[$0.range.lowerBound] == UInt8(ascii: "-") }
      guard let up = marks.first(where: { isMark("migrate:up", $0.text) }) else {
        reader.problem(path, nil, "the line `-- migrate:up` is missing")
        continue
      }
      let down = marks.first { isMark("migrate:down", $0.text) }
      let end = down?.range.lowerBound ?? file.whole.upperBound
      let early = file.sql.significant(in: 0..<min(up.range.lowerBound, end)).first
      guard early == nil, up.range.upperBound <= end else {
        reader.problem(
          path, file.position(early?.range.lowerBound ?? end),
          "dbmate refuses a file in which something comes before `-- migrate:up`")
        continue
      }
      let part = UpPart(file, up.range.upperBound..<end, of: reader.tool)
      reader.noteTransaction(path, file, up, "transaction:false")
      if let down { reader.noteDown(path, file, down.range) }
      reader.add(
        number: version, name: stem(rest, without: ".sql") ?? rest, path, part,
        ReplacedEntries("schema_migrations", .dbmate, version))
    }
  }

  /// Whether a comment is a marker of dbmate: the word alone, or the word with options (`migration.go`).
  private static func isMark(_ mark: String, _ remark: String) -> Bool {
    remark.utf8.starts(with: mark.utf8)
      && remark.utf8.dropFirst(mark.utf8.count).first?.isWhiteSpace ?? true
  }
}

extension ForeignHistory {
  /// Adds a note for statements before the marker of the up section.
  mutating func noteEarly(_ path: String, _ file: ForeignFile, _ mark: Range<Int>) {
    guard let first = file.sql.significant(in: 0..<mark.lowerBound).first else { return }
    note(
      path, file.position(first.range.lowerBound), kind: .statement,
      "`import` skips the statements before the up section")
  }

  /// Adds a note for the statements of a part that belongs to no migration.
  mutating func noteEarly(_ part: UpPart) {
    notes += part.notes
    guard let first = part.file.sql.significant(in: part.range).first, !part.isEmpty else { return }
    notes.append(
      ForeignNote(
        file: part.file.path, position: part.file.position(first.range.lowerBound),
        kind: .statement, message: "`import` skips the statements before the first migration"))
  }

  /// Adds a note for a down section, unless the section is empty.
  mutating func noteDown(_ path: String, _ file: ForeignFile, _ mark: Range<Int>) {
    let rest = mark.upperBound..<file.whole.upperBound
    guard rest.lowerBound < rest.upperBound, !file.sql.significant(in: rest).isEmpty else { return }
    note(
      path, file.position(mark.lowerBound), kind: .down, "`import` skips the down section")
  }

  /// Adds a note for a marker that turns off the transaction.
  mutating func noteTransaction(
    _ path: String, _ file: ForeignFile, _ mark: (text: String, range: Range<Int>), _ word: String
  ) {
    guard mark.text.contains(word) else { return }
    note(
      path, file.position(mark.range.lowerBound), kind: .decision,
      "`\(word)`: schemactl runs the migration in a transaction")
  }
}
