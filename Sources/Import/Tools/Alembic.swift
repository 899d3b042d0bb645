import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// The output of `alembic upgrade head --sql`: each revision begins with `-- Running upgrade a -> b`.
enum Alembic: ForeignFormat {
  private static let mark = "Running upgrade "

  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    try source.holdsRemark { $0.hasPrefix(mark) }
  }

  static func read(_ reader: inout HistoryReader) throws(Failure) {
    for path in reader.source.scripts {
      let file = try reader.file(path)
      let marks = file.remarks.compactMap { remark in
        revision(remark.text).map { (revision: $0, range: remark.range) }
      }
      for (index, (revision, range)) in marks.enumerated() {
        let end = index + 1 < marks.count ? marks[index + 1].range.lowerBound : nil
        let part = UpPart(
          file, range.upperBound..<(end ?? file.whole.upperBound), ledger: ["alembic_version"])
        reader.add(
          number: "", name: revision.name, path, part,
          ReplacedEntries("alembic_version", .alembic, revision.id))
      }
    }
  }

  /// The revision that a remark says is reached: what follows the arrow, up to a comma or a space, and the
  /// revision's message.
  private static func revision(_ remark: String) -> (id: String, name: String)? {
    guard remark.hasPrefix(mark), let arrow = remark.firstRange(of: "->") else { return nil }
    let words = remark[arrow.upperBound...].split { $0 == " " || $0 == "," }
    guard let id = words.first.map(String.init) else { return nil }
    let name = words.dropFirst().joined(separator: "_")
    return (id, name.isEmpty ? id : name.lowercased())
  }
}
