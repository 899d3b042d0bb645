import History
import SQLText
import SQLite

/// Which of several backups is put back. Backups are found by the database's file name, and in a
/// folder of their own other databases may have the same one: the ledgers tell them apart.
extension Backups {
  /// A backup, and what was found in it.
  package struct Entry: Sendable {
    package let backup: Backup
    package let ledger: Result<[LedgerRow], Failure>
    /// Whether it is of the database; nil when the one or the other has no ledger to tell by.
    package let isOwn: Bool?

    package var rows: [LedgerRow]? { try? ledger.get() }
  }

  /// By their names, the newest first.
  package func entries(timeout: Double) throws(Failure) -> [Entry] {
    let own = try DatabaseFile.knownLedger(of: database, timeout: timeout)
    return try all().map { backup in
      let ledger = Result { () throws(Failure) in try backup.ledger() }
      return Entry(
        backup: backup, ledger: ledger, isOwn: areOfOneDatabase((try? ledger.get()) ?? [], own))
    }
  }

  /// The newest one, of those that are not another database's.
  ///
  /// - Throws: when it cannot be read, or nobody can tell whose it is. An older one is never taken
  ///   in its place: somebody has to name it.
  package func newest(timeout: Double) throws(Failure) -> Backup? {
    let entries = try entries(timeout: timeout)
    guard let newest = entries.first(where: mayBeOwn) ?? entries.first else { return nil }
    if case .failure(let failure) = newest.ledger {
      throw Failure(
        .inputOutput,
        "\(newest.backup.path) is the newest backup, and cannot be put back: \(failure.message). "
          + "Nothing was changed. " + advice(insteadOf: newest.backup.path, entries))
    }
    if entries.allSatisfy({ $0.isOwn == nil }) { try requireNoDoubt(newest, entries) }
    return newest.backup
  }

  /// Where nothing tells which database the backups are of: beside one, its name does; in a folder of
  /// their own, or when they are of several, a person has to.
  private func requireNoDoubt(_ newest: Entry, _ entries: [Entry]) throws(Failure) {
    let ledgers = entries.compactMap(\.rows).filter { !$0.isEmpty }
    guard let first = ledgers.first?.first else { return }
    let isOfSeveral = ledgers.contains { areOfOneDatabase($0, ledgers[0]) == false }
    guard isOfSeveral || base != database else { return }
    let why = "because \(database) is gone, or holds no ledger that can be read"
    guard isOfSeveral else {
      throw Failure(
        .finding,
        "whether the backups in \(folder) are of \(database) cannot be told, \(why). Nothing was "
          + "changed. If they are, name the newest (first run at \(first.startedAt)): "
          + "\(restoreCommand(database)) \(shellQuoted(newest.backup.path))`")
    }
    let list = entries.compactMap { entry in
      entry.rows?.first.map { "\(entry.backup.path) (first run at \($0.startedAt))" }
    }
    throw Failure(
      .finding,
      "which database the backups in \(folder) are of cannot be told, \(why); and they are of more "
        + "than one: " + list.joined(separator: ", ")
        + ". Nothing was changed. Name the one to put back: \(restoreCommand(database)) BACKUP`")
  }

  /// One from before the first migration tells nothing; beside the database it is taken for its own.
  private func mayBeOwn(_ entry: Entry) -> Bool {
    entry.isOwn ?? (base == database || entry.rows?.isEmpty != true)
  }

  /// What to do when a backup is of no use.
  func advice(insteadOf path: String, timeout: Double) -> String {
    advice(insteadOf: path, (try? entries(timeout: timeout)) ?? [])
  }

  private func advice(insteadOf path: String, _ entries: [Entry]) -> String {
    let name = nameBytes(of: path)
    let others = entries.drop { nameBytes(of: $0.backup.path) != name }.dropFirst()
    guard let older = others.first(where: { $0.isOwn != false && $0.rows?.isEmpty == false }) else {
      return "Take another backup (\(restoreCommand(database)) --list` shows them)"
    }
    return "An older one has to be named: \(restoreCommand(database)) "
      + "\(shellQuoted(older.backup.path))`"
  }
}

extension DatabaseFile {
  /// What a database has run; nothing when it has no ledger, or is damaged.
  ///
  /// - Throws: when it cannot be read just now, which tells nothing.
  static func knownLedger(
    of database: String, timeout: Double
  ) throws(Failure) -> [LedgerRow] {
    guard isFile(database) else { return [] }
    // A read that fails once looks like damage.
    for _ in 0..<2 {
      do throws(Failure) {
        return try LiveDatabase(openForReading(database, timeout: timeout), path: database).rows
          ?? []
      } catch {
        guard [.inputOutput, .brokenHistory].contains(error.status) else {
          throw Failure(error.status, error.message + ". Nothing was changed")
        }
      }
    }
    return []
  }
}

/// The beginning of what to type, without the backtick at its end.
func restoreCommand(_ database: String) -> String {
  "`schemactl restore --database \(shellQuoted(database))"
}
