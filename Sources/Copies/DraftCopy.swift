import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// The copy of a database that `migrate` keeps before it applies the first draft. A draft may still
/// change: then the copy is the way back.
package struct DraftCopy: Sendable {
  package let database: String
  /// `<database>.before-drafts`.
  package var path: String { database + ".before-drafts" }

  package init(of database: String) {
    self.database = database
  }

  /// Whether the next migration is the first draft of a database that has run frozen ones.
  package static func isDue(before next: Migration, known: [String], in project: Project) -> Bool {
    guard let lock = project.lock, !known.isEmpty, !project.isFrozen(next) else { return false }
    return known.allSatisfy(lock.contains)
  }

  package struct Reset: Sendable {
    /// The copy that was put back; nil where the database was emptied.
    package let copy: String?
    /// The path of what it replaced: `<database>.before-reset`, with a number when that exists already.
    package let setAside: String
  }

  /// Puts the copy back, and keeps what it replaces. A database that has run nothing but drafts was
  /// empty before them, and needs no copy.
  ///
  /// - Throws: when the copy is missing, or is not of this database as it was before its drafts.
  package func restore(
    _ project: Project, timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> Reset {
    try DatabaseFile.require(database)
    let rows =
      try LiveDatabase(
        DatabaseFile.openForReading(database, timeout: timeout), project.ledger, path: database
      )
      .rows ?? []
    let copier = Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
    guard try DatabaseFile.exists(path) else {
      guard hasOnlyDrafts(rows, project) else {
        throw Failure(
          .notFound,
          "\(path) does not exist: \(database) has run no draft, or somebody removed the copy. "
            + "Nothing was changed",
          remedy: "`schemactl restore` puts a backup back, if there is one")
      }
      let empty = try copier.makeEmpty(for: database)
      defer { withExtendedLifetime(empty) {} }
      return Reset(copy: nil, setAside: try replacement(empty.path, copier).overwrite())
    }
    let kept = try DatabaseFile.rows(ofCopy: path, project.ledger, timeout: timeout)
    let frozen = frozen(rows, project)
    guard kept.map(\.run) == frozen.map(\.run) else {
      throw Failure(
        .finding,
        "\(path) is not the copy of \(database) from before its drafts: it has run "
          + "\(list(kept)), and the frozen migrations of \(database) are \(list(frozen)). "
          + "Nothing was changed")
    }
    return Reset(copy: path, setAside: try replacement(path, copier).overwrite())
  }

  private func replacement(_ copy: String, _ copier: Copier) -> Replacement {
    Replacement(
      database: database, copy: copy, keptName: database + ".before-reset", copier: copier)
  }

  /// Whether ``restore(_:timeout:interruption:onEvent:)`` can take the database back.
  ///
  /// - Parameter rows: of the database's ledger.
  package func canRestore(_ rows: [LedgerRow], _ project: Project) -> Bool {
    guard (try? DatabaseFile.exists(path)) == true,
      let kept = try? DatabaseFile.rows(ofCopy: path, project.ledger, timeout: 0)
    else { return hasOnlyDrafts(rows, project) }
    return kept.map(\.run) == frozen(rows, project).map(\.run)
  }

  /// Whether drafts of this project made everything in the database. A migration that the project does not
  /// have may be a released one of another history.
  private func hasOnlyDrafts(_ rows: [LedgerRow], _ project: Project) -> Bool {
    let drafts = project.migrations.filter { !project.isFrozen($0) }
    return !rows.isEmpty
      && rows.allSatisfy { row in
        !row.isAdopted
          && drafts.contains {
            $0.id.exact == row.id.exact || $0.canonicalDigest == row.canonicalDigest
          }
      }
  }

  private func frozen(_ rows: [LedgerRow], _ project: Project) -> [LedgerRow] {
    rows.filter { project.lock?.anyEntry($0.id) != nil }
  }

  private func list(_ rows: [LedgerRow]) -> String {
    rows.last.map {
      "\(counted(Int64(rows.count), "migration")) through \($0.id) (\($0.startedAt))"
    } ?? "nothing"
  }
}

extension Project {
  /// Where each migration stands in a database.
  package func compareLedger(_ rows: [LedgerRow], of database: String) -> [LedgerEntry] {
    SchemaHistory.compareLedger(
      rows, with: migrations, lock,
      canReset: DraftCopy(of: database).canRestore(rows, self))
  }

  /// Compares the ledger with the history.
  ///
  /// - Throws: a failure that lists every entry that stops a migration, such as `unknown` or `edited`.
  package func requireUsableLedger(
    _ rows: [LedgerRow]?, of database: String
  ) throws(Failure) -> [LedgerEntry] {
    let entries = compareLedger(rows ?? [], of: database)
    let stops = entries.filter(\.state.stops)
    guard !stops.isEmpty else { return entries }
    func list(_ text: (LedgerEntry) -> String) -> [String] {
      stops.map { "\($0.id): \($0.state.rawValue). \(text($0))" }
    }
    throw Failure(
      ExitStatus.worst(stops.map(\.state.status)),
      "the database and the history disagree. Nothing was changed.", details: list(\.detail),
      plainDetails: list(\.problem))
  }
}
