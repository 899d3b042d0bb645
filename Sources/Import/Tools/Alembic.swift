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
      var former: String?
      for (index, (revision, range)) in marks.enumerated() {
        let end = index + 1 < marks.count ? marks[index + 1].range.lowerBound : nil
        let part = UpPart(
          file, range.upperBound..<(end ?? file.whole.upperBound), of: reader.tool)
        if let former, !revision.parents.contains(where: { $0 == former }) {
          reader.note(
            path, file.position(range.lowerBound), kind: .decision,
            "\(revision.id) is in another branch than \(former), and follows it in the manifests: run "
              + "`alembic upgrade heads` on a database that has run it and not \(former)")
        }
        former = revision.id
        reader.add(
          number: "", name: revision.name, path, part,
          ReplacedEntries("alembic_version", .alembic, revision.id))
      }
    }
  }

  /// The revision after the arrow of a remark, its message, and the revisions before the arrow.
  private static func revision(
    _ remark: String
  ) -> (id: String, name: String, parents: [String])? {
    guard remark.hasPrefix(mark), let arrow = remark.firstRange(of: "->") else { return nil }
    let words = remark[arrow.upperBound...].split { $0 == " " || $0 == "," }
    let parents = remark[..<arrow.lowerBound].dropFirst(mark.utf8.count)
      .split { $0 == " " || $0 == "," }.map(String.init)
    guard let id = words.first.map(String.init) else { return nil }
    let name = words.dropFirst().joined(separator: "_")
    return (id, name.isEmpty ? id : name.lowercased(), parents)
  }
}
