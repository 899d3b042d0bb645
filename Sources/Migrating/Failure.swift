import ManifestFormat
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a command stopped, said to the person who has to do something about it.
package struct Failure: Error, Sendable {
  package let status: ExitStatus
  package let message: String
  package let place: Place?
  /// The migration that failed, where one did.
  package let migration: FailedMigration?

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
    let obstacle =
      [.readOnly, .cannotOpen].contains(error.code) ? DatabaseFile.obstacle(database) : nil
    let advice =
      switch error.code {
      case .busy, .locked, .lockingProtocol: Self.inUse(database, error)
      case .notADatabase: "\(database) is not an SQLite database, or it is encrypted"
      case .corrupt: "\(database) is damaged (\(error.message)). Restore it from a backup"
      case .readOnly: "\(database) cannot be written: \(obstacle ?? error.message)"
      case .cannotOpen where obstacle != nil:
        "\(database) cannot be opened: \(obstacle ?? ""). In WAL mode even a reader writes beside it: "
          + "copy it, with its -wal, to where that is allowed"
      case .cannotOpen where error.status == .permission:
        "\(database) cannot be opened: \(String(cString: strerror(error.systemError)))"
      case .full: "the disk is full: \(database) was left as it was"
      case .interrupted: "interrupted"
      default: "\(database): \(error.message) (SQLite error \(error.extendedCode))"
      }
    self.init(obstacle == nil ? error.status : .permission, advice)
  }

  private static func inUse(_ database: String, _ error: DatabaseError) -> String {
    let holders = DatabaseFile.lockHolders(database)
    let who = holders.isEmpty ? "" : ", " + holders.joined(separator: ", ")
    return
      "\(database) is in use by another process\(who) (\(error.message)): close it there and try "
      + "again, or wait longer with --timeout"
  }
}
