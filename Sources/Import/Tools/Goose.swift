import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `00001_create_users.sql` with `-- +goose Up` and `-- +goose Down`.
enum Goose: ForeignFormat {
  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    try source.holdsRemark { word($0) != nil }
  }

  /// The annotation in a comment: `up`, `down`, `statementbegin`.
  private static func word(_ remark: String) -> String? {
    guard remark.hasPrefix("+goose") else { return nil }
    return String(remark.dropFirst(6)).trimmed.lowercased()
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      guard let (version, rest) = leadingNumber(fileName(path)), rest.hasPrefix("_") else {
        continue
      }
      let file = try reader.file(path)
      let marks = file.remarks.compactMap { remark in
        word(remark.text).map { (word: $0, remark: remark) }
      }
      guard let up = marks.first(where: { $0.word == "up" })?.remark else {
        reader.problem(path, nil, "the line `-- +goose Up` is missing")
        continue
      }
      let down = marks.first { $0.word == "down" }?.remark
      let end = down?.range.lowerBound ?? file.whole.upperBound
      var part = UpPart(
        file, up.range.upperBound..<max(up.range.upperBound, end), of: reader.tool)
      for mark in marks where part.range.overlaps(mark.remark.range) {
        if mark.word == "statementend" {
          part.remove(separator: mark.remark.range)
        } else {
          part.remove(mark.remark.range)
        }
      }
      for mark in marks where mark.word == "no transaction" {
        reader.noteTransaction(path, file, mark.remark, mark.remark.text)
      }
      for mark in marks where mark.word.hasPrefix("envsub on") {
        reader.problem(
          path, file.position(mark.remark.range.lowerBound),
          "goose puts environment variables into this file: write their values, and remove the line"
        )
      }
      reader.noteEarly(path, file, up.range)
      if let down { reader.noteDown(path, file, down.range) }
      reader.add(
        number: version, name: stem(rest, without: ".sql") ?? rest, path, part,
        ReplacedEntries("goose_db_version", .goose, "\(MigrationNumber(id: version))"))
    }
    reader.sortByNumber()
  }
}
