import History
import ManifestFormat
import SQLite

/// Why a command stopped, said to the person who has to do something about it.
package struct Failure: Error, Sendable {
  package let status: ExitStatus
  package let message: String
  package let place: Place?
  /// The migration that failed, where one did.
  package let migration: FailedMigration?
  /// What SQLite said, when a database or the memory failed under a migration.
  var fault: DatabaseError?

  package struct Place: Sendable, Hashable {
    package let file: String
    package let position: Position?

    package init(file: String, position: Position? = nil) {
      self.file = file
      self.position = position
    }
  }

  package struct FailedMigration: Sendable, Hashable {
    package let id: String
    /// The operation's number in the manifest, from 1, and its name: `2 move_column`.
    package let operation: String?
    package let statement: String?

    package init(id: String, operation: String? = nil, statement: String? = nil) {
      self.id = id
      self.operation = operation
      self.statement = statement
    }
  }

  package init(
    _ status: ExitStatus, _ message: String, place: Place? = nil,
    migration: FailedMigration? = nil
  ) {
    self.status = status
    self.message = message
    self.place = place
    self.migration = migration
  }

  /// Something SQLite said about a database as a whole.
  package init(_ error: DatabaseError, database: String) {
    self.init(error.status, error.inWords(database))
  }

  /// Why a ledger could not be read.
  init(_ error: LedgerReadError, database: String) {
    switch error {
    case .database(let error): self.init(error, database: database)
    case .notALedger: self.init(.brokenHistory, "\(database): \(error)")
    }
  }

  /// A fault of the database tells which one it is.
  func naming(_ database: String) -> Failure {
    guard let fault else { return self }
    return Failure(status, fault.inWords(database), place: place, migration: migration)
  }
}

extension DatabaseError {
  /// What has happened to a database, and what to do.
  fileprivate func inWords(_ database: String) -> String {
    switch code {
    case .busy, .locked, .lockingProtocol:
      "\(database) is in use by another process (\(message)): try again, or wait longer with "
        + "--timeout"
    case .notADatabase: "\(database) is not an SQLite database, or it is encrypted"
    case .corrupt: "\(database) is damaged (\(message)). Restore it from a backup"
    case .readOnly:
      "\(database) cannot be written (\(message)). Look at the permissions of the file and its "
        + "folder, and whether the disk has room"
    case .cannotOpen where status == .permission: "\(database) cannot be opened: permission denied"
    case .full: "the disk is full: there is no room for \(database). Make room, and try again"
    case .outOfMemory:
      "SQLite ran out of memory with \(database). Free some, or allow this process more, and try "
        + "again"
    case .ioError:
      "reading or writing \(database) failed (\(message), SQLite error \(extendedCode)). Look at "
        + "the disk and its file system before you try again"
    case .interrupted: "interrupted"
    default: "\(database): \(message) (SQLite error \(extendedCode))"
    }
  }
}
