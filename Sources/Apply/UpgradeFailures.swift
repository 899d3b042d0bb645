import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// What a failure of a run means for the database.
extension Upgrade {
  /// Of a file beside the database SQLite says only, at some statement, that it cannot be opened.
  func explained(_ failure: Failure) -> Failure {
    // What is not certain must be said.
    guard report.uncertain.isEmpty, !connection.isBorrowed,
      [.permission, .inputOutput].contains(failure.status),
      let obstacle = DatabaseFile.obstacle(options.file), !failure.message.contains(obstacle)
    else { return failure }
    return Failure(
      .permission, "\(options.database) cannot be written: \(obstacle)", place: failure.place,
      migration: failure.migration)
  }

  /// Names the last migration that stays applied after a signal.
  func named(_ failure: Failure) -> Failure {
    guard interruption.isRequested || failure.status == .interrupted else { return failure }
    let last = report.applied.last.map { "The last migration that was applied is \($0.id)" }
    return Failure(
      .interrupted,
      "interrupted: the unfinished migration was rolled back. "
        + (last ?? "No migration was applied"),
      place: failure.place, migration: failure.migration)
  }

  var moved: Failure {
    Failure(moved: options.database, afterApplying: report.applied.last?.id)
  }

  func doubtful(_ error: DatabaseError) -> Failure {
    safety.hasFullDisk = error.isFullDisk
    let failure = Failure(error, database: options.database)
    return report.uncertain.isEmpty ? failure : Failure(uncertain: report.uncertain, after: failure)
  }

  /// The failure, with the complete migrations that were rolled back by it.
  func rolledBack(_ ids: [String], after failure: Failure) -> Failure {
    guard !ids.isEmpty, report.uncertain.isEmpty else { return failure }
    return failure.naming(options.database).saying(
      "SQLite ended the transaction and rolled back "
        + ids.abridged(to: 10).joined(separator: ", "),
      remedy: "Run `schemactl migrate` again")
  }
}
