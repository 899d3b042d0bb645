import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The copy of a database that `migrate` makes before it applies the first draft. If a draft changes later,
/// the database can return to this copy.
package struct DraftCopy: Sendable {
  package let database: String
  private let project: Project

  package init(of database: String, _ project: Project) {
    self.database = database
    self.project = project
  }

  /// `<database>.before-drafts`, or `<database>.before-drafts-of-NAME` with `ledger_table: NAME`.
  package var path: String {
    database + ".before-drafts" + (project.ledger == .usual ? "" : "-of-\(project.ledger.fileName)")
  }

  /// Whether the next migration is the first draft for a database that has run only frozen migrations.
  package static func isDue(before next: Migration, known: [String], in project: Project) -> Bool {
    guard let lock = project.lock, !known.isEmpty, !project.isFrozen(next) else { return false }
    return known.allSatisfy(lock.contains)
  }

  package struct Reset: Sendable {
    /// The path of the restored copy; nil if the database is now empty.
    package let copy: String?
    /// The path of the previous content: `<database>.before-reset`, with a number if a file has that name.
    package let setAside: String
  }

  /// Restores the copy, and keeps the replaced content. A database that has run only drafts was empty before
  /// them, so it needs no copy.
  ///
  /// - Returns: nil if the database has run no draft since the copy; then nothing changes.
  /// - Throws: a failure if the copy is missing or is not from before this database's drafts, if frozen
  ///   migrations have run since, or if another history in the same file has run migrations since.
  package func restore(
    timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> Reset? {
    let copier = Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
    switch try origin(timeout: timeout) {
    case .here: return nil
    case .copy: return Reset(copy: path, setAside: try replacement(path, copier).overwrite())
    case .empty:
      let empty = try copier.makeEmpty(for: database)
      defer { withExtendedLifetime(empty) {} }
      return Reset(copy: nil, setAside: try replacement(empty.path, copier).overwrite())
    }
  }

  /// The state to which a database returns.
  private enum Origin {
    case copy, empty
    /// The current state: the database has run no drafts.
    case here
  }

  /// - Throws: the reason why the database cannot return to the state before its drafts.
  private func origin(timeout: Double) throws(Failure) -> Origin {
    let live = try ReadableDatabase(file: database, timeout: timeout).connection
    let rows = try LiveDatabase(live, project.ledger, path: database).rows ?? []
    let frozen = frozen(rows)
    if !rows.isEmpty, rows.count == frozen.count { return .here }
    guard try DatabaseFile.exists(path) else {
      guard hasOnlyDrafts(rows) else {
        throw Failure(
          .notFound,
          "`\(path)` does not exist: schemactl makes this copy before the first draft, and only of a "
            + "database that has run frozen migrations. Nothing changed",
          remedy: "If a backup exists, `schemactl restore` puts it back")
      }
      try requireNothingLost(live, rows, to: nil)
      return .empty
    }
    let copy = try Copier(timeout: timeout).openCopy(path)
    let kept = try LiveDatabase(copy, project.ledger, path: path).rows ?? []
    let since = frozen.dropFirst(kept.count)
    if !since.isEmpty, !kept.isEmpty, frozen.map(\.run).starts(with: kept.map(\.run)) {
      throw Failure(
        .finding,
        "`\(path)` is from before \(since.map { "`\($0.id)`" }.joined(separator: ", ")) (frozen "
          + "since then), and a reset would remove rows that a release may have written. "
          + "Nothing changed",
        remedy: "Undo the edit and put the change into a new migration, or restore the copy "
          + "(`schemactl restore \(shellQuoted(path)) --database \(shellQuoted(database))`) and run "
          + "`migrate`")
    }
    guard kept.map(\.run) == frozen.map(\.run) else {
      throw Failure(
        .finding,
        "`\(path)` is not the copy of `\(database)` from before its drafts: it has run "
          + "\(list(kept)), and the frozen migrations of `\(database)` are \(list(frozen)). Nothing "
          + "changed")
    }
    if rows.isEmpty { return .here }
    try requireNothingLost(live, rows, to: copy)
    return .copy
  }

  private func replacement(_ copy: String, _ copier: Copier) -> Replacement {
    Replacement(
      database: database, copy: copy, keptName: database + ".before-reset", copier: copier)
  }

  /// - Parameter copy: the content to which the database returns; nil for an empty database.
  /// - Throws: a failure if another history in the same file has run migrations that would be undone, or if
  ///   an empty database would lack objects that no migration of this history created.
  private func requireNothingLost(
    _ live: Connection, _ rows: [LedgerRow], to copy: Connection?
  ) throws(Failure) {
    try failing(on: database) {
      if copy == nil, let stranger = try stranger(in: live, rows) {
        throw Failure(
          .finding,
          "`\(database)` also holds \(stranger), which the current migrations do not create, and an "
            + "empty database would not. Nothing changed",
          remedy: "Restore a backup, or change the database with SQL")
      }
      for other in try project.ledger.others(in: live) {
        let kept = Set(try copy.flatMap { try other.rows(in: $0) }?.map(\.run) ?? [])
        let lost = try (other.rows(in: live) ?? []).filter { !kept.contains($0.run) }
        guard lost.isEmpty else {
          throw Failure(
            .finding,
            "`\(database)` also holds the history of the ledger `\(other)`, which has run "
              + "\(list(lost)) since, and a reset would undo that. Nothing changed")
        }
      }
    }
  }

  /// The ledger of another history, or the objects that no migration created; nil if the database has
  /// neither.
  private func stranger(
    in live: Connection, _ rows: [LedgerRow]
  ) throws(DatabaseError) -> String? {
    if let other = try project.ledger.others(in: live).first {
      return "the history of the ledger `\(other)`"
    }
    let schema = try Schema(of: live).ours { name in
      name.identifier == project.ledger.table || ForeignObjects.isReserved(name)
    }
    // The ledger has the fingerprint of the schema that the drafts created before they were edited.
    guard schema.fingerprint() != rows.last?.fingerprint else { return nil }
    var created: Set<SchemaDelta.Key> = []
    _ = try? project.replay(observing: { step, _ throws(Failure) in
      created.formUnion(step.delta.after.keys)
    })
    let strangers = schema.objects.filter { !created.contains($0.key) }.map { "`\($0.name)`" }
    return strangers.isEmpty ? nil : strangers.abridged(to: 5).joined(separator: ", ")
  }

  /// Whether drafts of this project created everything in the database. A migration that is not in the
  /// project may be a released migration of another history.
  private func hasOnlyDrafts(_ rows: [LedgerRow]) -> Bool {
    let drafts = project.migrations.filter { !project.isFrozen($0) }
    return !rows.isEmpty
      && rows.allSatisfy { row in
        !row.isAdopted
          && drafts.contains {
            $0.id.exact == row.id.exact || $0.canonicalDigest == row.canonicalDigest
          }
      }
  }

  private func frozen(_ rows: [LedgerRow]) -> [LedgerRow] {
    rows.filter { project.lock?.anyEntry($0.id) != nil }
  }

  private func list(_ rows: [LedgerRow]) -> String {
    rows.last.map {
      "\(counted(Int64(rows.count), "migration")) through `\($0.id)` (\($0.startedAt))"
    } ?? "nothing"
  }
}

extension Ledger {
  /// The name as a part of a file name: in lower case, with all bytes but letters, digits and underscores in
  /// the form `%20`.
  fileprivate var fileName: String {
    table.folded.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        String(UnicodeScalar(byte))
      default: "%" + String(256 + Int(byte), radix: 16).dropFirst()
      }
    }.joined()
  }
}

extension Project {
  /// The state of each migration in a database.
  package func compareLedger(_ rows: [LedgerRow]) -> [LedgerEntry] {
    SchemaHistory.compareLedger(rows, with: migrations, lock)
  }

  /// - Throws: a failure that lists every entry that stops a migration, such as `unknown` or `edited`.
  package func requireUsableLedger(_ rows: [LedgerRow]?) throws(Failure) {
    let message = "the database and the history disagree. Nothing changed."
    if let failure = Failure(compareLedger(rows ?? []), message) { throw failure }
  }
}

extension Failure {
  /// Lists the entries of a ledger that stop a migration; nil if none does.
  package init?(_ entries: [LedgerEntry], _ message: String) {
    let stops = entries.filter(\.state.stops)
    guard !stops.isEmpty else { return nil }
    func list(_ text: (LedgerEntry) -> String) -> [String] {
      stops.map { "`\($0.id)` is \($0.state.rawValue): \(text($0))" }
    }
    self.init(
      ExitStatus.worst(stops.map(\.state.status)), message, details: list(\.detail),
      plainDetails: list(\.problem))
  }
}
