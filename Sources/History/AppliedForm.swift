import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// One migration as a ledger records it once it has run.
package struct AppliedForm: Sendable {
  package let id: String
  package let rawDigest: String
  /// Nil for a draft that was not decoded.
  package let canonicalDigest: String?
}

extension MigrationFolder {
  /// What the ledger of an up-to-date database holds, by the bytes of the manifests: none is decoded.
  ///
  /// - Returns: nil where anything is wrong with a file, a name, two names together or the lock, or an edit was
  ///   accepted: that needs a closer look.
  package func appliedForms() -> [AppliedForm]? {
    guard let names = try? manifestNames(), names.allSatisfy({ $0.problem == nil }),
      let frozen = try? lock()?.entries ?? []
    else { return nil }
    let sorted = names.map { (number: MigrationNumber(id: $0.id), name: $0) }
      .sorted { $0.number < $1.number }
    guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.number < $1.number }),
      zip(frozen, sorted).allSatisfy({ $0.id == $1.name.id }), frozen.count <= sorted.count
    else { return nil }
    var forms: [AppliedForm] = []
    for (index, (_, name)) in sorted.enumerated() {
      let bytes = try? readFile(
        joinedPath(path, name.text), inFolder: path, limit: Self.manifestSizeLimit)
      guard let raw = bytes.map(rawDigest) else { return nil }
      let entry = frozen.indices.contains(index) ? frozen[index] : nil
      guard entry.map({ $0.digests.raw == raw && $0.acceptances.isEmpty }) ?? true else {
        return nil
      }
      forms.append(
        AppliedForm(id: name.id, rawDigest: raw, canonicalDigest: entry?.digests.canonical))
    }
    return forms
  }
}

extension Ledger {
  /// Whether the ledger has run just these migrations in this order.
  ///
  /// It is the question of every start of an app and of every tenant's database in a long row, and nearly always
  /// the answer. Reads the rows as they are stored, which is the order in which they were written: sorting them
  /// takes as long as reading them.
  ///
  /// - Returns: false also for rows in another order, and for anything that the full run reports.
  package func holds(_ forms: some Sequence<AppliedForm>, in connection: Connection) -> Bool {
    do throws(DatabaseError) {
      let statement = try connection.prepare(
        "SELECT id, raw_digest, canonical_digest, position, fingerprint FROM main.\(name)")
      func isDigest(_ column: Int) throws(DatabaseError) -> Bool {
        try statement.withUTF8(of: column) { bytes in
          bytes.map { SchemaHistory.isDigest($0) } ?? false
        }
      }
      var last: Int64 = 0
      for form in forms {
        guard try statement.step(), try statement.holds(form.id, in: 0),
          try statement.holds(form.rawDigest, in: 1), statement.integer(3) > last,
          try isDigest(4)
        else { return false }
        let isSame =
          if let canonical = form.canonicalDigest {
            try statement.holds(canonical, in: 2)
          } else {
            try isDigest(2)
          }
        guard isSame else { return false }
        last = statement.integer(3)
      }
      let hasMore = try statement.step()
      return last > 0 && !hasMore
    } catch {
      return false
    }
  }
}
