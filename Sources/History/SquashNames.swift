import SchemaManifest
import SchemaSQLText

/// The id of the squash that ends with a migration: `0012_squash_add_tags` for `0012_add_tags`.
package func squashID(of last: String) -> String {
  let digits = last.utf8.prefix(while: \.isDigit)
  let rest = last.utf8.dropFirst(digits.count)
  return String(decoding: Array(digits), as: UTF8.self) + "_squash"
    + String(decoding: Array(rest), as: UTF8.self)
}

/// The ids that are squashes of others among them.
package func squashes(among ids: [String]) -> Set<ExactText> {
  let all = Set(ids.map(\.exact))
  return Set(ids.map { squashID(of: $0).exact }).intersection(all)
}

extension Migration {
  /// The squashes among the migrations that this one replaces.
  package var olderSquashes: Set<ExactText> { squashes(among: manifest.squashed) }

  /// The migrations that a squash replaces, without older squashes.
  package var replacedMigrations: [String] {
    let older = olderSquashes
    return manifest.squashed.filter { !older.contains($0) }
  }

  /// Whether it is a squash of a migration.
  ///
  /// - Parameter name: an id or a number.
  package func replaces(_ name: String) -> Bool {
    manifest.squashed.contains { id in
      id == name
        || name.utf8.allSatisfy(\.isDigit) && MigrationNumber(id: name) == MigrationNumber(id: id)
    }
  }

  /// Whether a database that has run these migrations has run all that the squash replaces.
  package func isReplaced(by run: Set<ExactText>) -> Bool {
    let start = base(of: run).map { MigrationNumber(id: $0) }
    return replacedMigrations.allSatisfy { id in
      start.map { MigrationNumber(id: id) <= $0 } ?? false || run.contains(id)
    }
  }

  /// The last older squash that a database has run itself.
  package func base(of run: Set<ExactText>) -> String? {
    let older = olderSquashes
    return manifest.squashed.last { older.contains($0) && run.contains($0) }
  }
}

extension [Migration] {
  /// How many places the migrations after a squash at the beginning move back in the ledger: they stand where
  /// they stood after the migrations that it replaces.
  package var positionOffset: Int {
    guard let first, !first.manifest.squashed.isEmpty else { return 0 }
    return Swift.max(0, first.replacedMigrations.count - 1)
  }
}
