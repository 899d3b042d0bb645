import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// The output of `alembic upgrade head --sql`, or of the script in docs/from/alembic.md. Each revision begins
/// with `-- Running upgrade a -> b`.
enum Alembic: ForeignFormat {
  private static let mark = "Running upgrade "

  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool {
    try source.holdsRemark { $0.hasPrefix(mark) }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      let file = try reader.file(path)
      let marks = file.remarks.compactMap { remark in
        revision(remark.text).map { (revision: $0, range: remark.range) }
      }
      // With `transaction_per_migration`, Alembic writes BEGIN before the marker of its revision.
      let starts = marks.indices.map { index in
        let before =
          (index == 0 ? 0 : marks[index - 1].range.upperBound)..<marks[index].range.lowerBound
        let last = file.statements(in: before).last
        return last.map(file.names)?.first == "BEGIN"
          ? last?.range.lowerBound ?? before.upperBound : before.upperBound
      }
      reader.noteEarly(
        UpPart(file, 0..<(starts.first ?? file.whole.upperBound), of: reader.tool))
      var former: String?
      for (index, (revision, range)) in marks.enumerated() {
        let end = index + 1 < marks.count ? starts[index + 1] : file.whole.upperBound
        var part = UpPart(file, starts[index]..<end, of: reader.tool)
        part.remove(range)
        reader.noteCode(path, file, part.range)
        // Alembic also removes from its ledger the revisions of other branches on which this revision
        // depends.
        let parents =
          revision.parents
          + file.leftRevisions(part.range).filter { left in
            !revision.parents.contains { $0 == left }
          }
        let isNext = former.map { parents.count == 1 && parents[0] == $0 } ?? parents.isEmpty
        if let former, !parents.contains(where: { $0 == former }) {
          reader.note(
            path, file.position(range.lowerBound), kind: .decision,
            "`\(revision.id)` is in another branch than `\(former)`, and follows it in the manifests: run "
              + "`alembic upgrade heads` on a database that has run it and not \(former)")
        }
        former = revision.id
        reader.add(
          number: "", name: revision.name, path, part,
          ReplacedEntries(
            ledger: "alembic_version", kind: .alembic, column: nil, entries: [revision.id],
            parents: isNext ? nil : parents))
      }
    }
  }

  /// Parses a marker: the revision after the arrow, its message, and the revisions before the arrow.
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

extension ForeignFile {
  /// Returns the revisions that Alembic's statements remove from its ledger.
  fileprivate func leftRevisions(_ range: Range<Int>) -> [String] {
    statements(in: range).compactMap { statement in
      guard let verb = names(statement).first, verb == "UPDATE" || verb == "DELETE",
        names(statement).prefix(3).contains("alembic_version"),
        let last = statement.words.last(where: { $0.kind == .string })
      else { return nil }
      return Quoting.unquoted(sql.text(last))
    }
  }
}
