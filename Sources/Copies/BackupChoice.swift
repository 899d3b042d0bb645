import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaSQLText

/// Which of several backups is restored. Backups are found by the database's file name, and in a folder
/// of their own other databases may have the same one: the ledgers tell them apart.
extension Backups {
  /// A backup and its content, as far as it was read.
  package struct Entry: Sendable {
    package let backup: Backup
    package let ledger: Result<[LedgerRow], Failure>
    /// Whether it is of the database; nil when one of the two has no ledger to compare.
    package let isOwn: Bool?

    package var rows: [LedgerRow]? { try? ledger.get() }
  }

  /// By their numbers, the newest first.
  package func entries(timeout: Double) throws(Failure) -> [Entry] {
    let own = try DatabaseFile.knownLedger(of: database, ledger, timeout: timeout)
    return try all().map { backup in
      let rows = Result { () throws(Failure) in try backup.rows(ledger) }
      return Entry(
        backup: backup, ledger: rows, isOwn: isSameDatabase((try? rows.get()) ?? [], own))
    }
  }

  /// The newest one, of those that are not another database's.
  ///
  /// - Throws: when it cannot be read, or its owner is unknown. An older one never replaces it:
  ///   the user has to name it.
  package func newest(timeout: Double) throws(Failure) -> Backup? {
    let entries = try entries(timeout: timeout)
    // Before the first migration a ledger is empty; beside the database the name decides.
    let newest = entries.first {
      $0.isOwn ?? (areBesideDatabase || $0.rows?.isEmpty != true)
    }
    guard let newest = newest ?? entries.first else { return nil }
    if case .failure(let failure) = newest.ledger {
      throw Failure(
        .inputOutput,
        "\(newest.backup.path) is the newest backup, and cannot be restored: \(failure.message). "
          + "Nothing was changed. " + advice(insteadOf: newest.backup.path, entries))
    }
    if entries.allSatisfy({ $0.isOwn == nil }) { try requireOneOwner(newest, entries) }
    return newest.backup
  }

  /// For a database without a ledger to compare: a backup beside it belongs to it by its name. In a separate
  /// folder, or with backups of several databases, the user has to choose.
  private func requireOneOwner(_ newest: Entry, _ entries: [Entry]) throws(Failure) {
    let known = entries.filter { $0.rows?.isEmpty == false }
    guard let rows = known.first?.rows else { return }
    let isOfSeveral = known.contains { isSameDatabase($0.rows ?? [], rows) == false }
    guard isOfSeveral || !areBesideDatabase else { return }
    let list = known.map { "\($0.backup.path) (first run at \($0.rows?[0].startedAt ?? ""))" }
    let why = "\(database) is missing, or has no readable ledger"
    throw Failure(
      .finding,
      isOfSeveral
        ? "the backups in \(folder) are of more than one database, and \(why): "
          + "\(list.joined(separator: ", ")). Nothing was changed. Name the backup to restore: "
          + "\(restoreCommand(database)) BACKUP`"
        : "the backups in \(folder) may be of another database: \(why). Nothing was changed. If "
          + "they belong to it, name the newest (first run at \(rows[0].startedAt)): "
          + "\(restoreCommand(database)) \(shellQuoted(newest.backup.path))`")
  }

  /// What to do when a backup is of no use.
  func advice(insteadOf path: String, timeout: Double) -> String {
    advice(insteadOf: path, (try? entries(timeout: timeout)) ?? [])
  }

  private func advice(insteadOf path: String, _ entries: [Entry]) -> String {
    let name = nameBytes(of: path)
    let others = entries.drop { nameBytes(of: $0.backup.path) != name }.dropFirst()
    guard let older = others.first(where: { $0.isOwn != false && $0.rows?.isEmpty == false }) else {
      return "Take another backup (\(restoreCommand(database)) --dry-run` lists them)"
    }
    return "To restore an older backup, name it: \(restoreCommand(database)) "
      + "\(shellQuoted(older.backup.path))`"
  }
}

extension DatabaseFile {
  /// What a database has run; nothing when it has no ledger, or is damaged.
  ///
  /// - Throws: when it cannot be read now, which shows nothing.
  static func knownLedger(
    of database: String, _ ledger: Ledger, timeout: Double
  ) throws(Failure) -> [LedgerRow] {
    guard isFile(database) else { return [] }
    // A read that fails once looks like damage.
    for _ in 0..<2 {
      do throws(Failure) {
        return try LiveDatabase(
          openForReading(database, timeout: timeout), ledger, path: database
        ).rows ?? []
      } catch {
        guard [.inputOutput, .brokenHistory].contains(error.status) else {
          throw Failure(error.status, error.message + ". Nothing was changed")
        }
      }
    }
    return []
  }
}

/// Databases that have run the same migrations have run them at different moments.
package struct LedgerRun: Sendable, Hashable {
  package let id: ExactText
  package let startedAt: String
}

extension LedgerRow {
  /// The part of a row that a repair of the ledger does not change.
  package var run: LedgerRun { LedgerRun(id: id.exact, startedAt: startedAt) }
}

/// Whether two ledgers are of one database: whether both have run the first migration that they share at
/// the same moment. Repairs may add rows and remove them; nil when one has none.
func isSameDatabase(_ rows: [LedgerRow], _ others: [LedgerRow]) -> Bool? {
  guard !rows.isEmpty, !others.isEmpty else { return nil }
  for row in rows {
    if let other = others.first(where: { $0.id.exact == row.id.exact }) {
      return other.startedAt == row.startedAt
    }
  }
  return false
}
