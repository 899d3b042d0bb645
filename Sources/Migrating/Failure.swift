import ManifestFormat
import SQLite

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

  /// Somebody has removed the file, or put another one in its place, while schemactl had it open.
  ///
  /// - Parameter last: the last migration that was committed before it was noticed.
  init(moved database: String, afterApplying last: String? = nil) {
    let state =
      last.map {
        "What was not complete has been rolled back; what was applied, through \($0), is in the "
          + "file that was opened, and not in what stands there now"
      } ?? "Everything has been rolled back: nothing was changed in either file"
    self.init(
      .inputOutput,
      "\(database) was removed or replaced while schemactl worked on it. \(state). Make sure that "
        + "the right file is there, and run it again")
  }

  /// Something SQLite said about a database as a whole.
  package init(_ error: DatabaseError, database: String) {
    let advice =
      switch error.code {
      case .busy, .locked:
        "\(database) is in use by another process (\(error.message)): try again, or wait longer "
          + "with --timeout"
      case .notADatabase: "\(database) is not an SQLite database, or it is encrypted"
      case .corrupt: "\(database) is damaged (\(error.message)). Restore it from a backup"
      case .readOnly where error.saysMoved: Failure(moved: database).message
      case .readOnly: "\(database) cannot be written (\(error.message))"
      case .cannotOpen where error.systemError == 13:
        "\(database) cannot be opened: permission denied"
      case .full: "the disk is full: \(database) was left as it was"
      case .interrupted: "interrupted"
      default: "\(database): \(error.message) (SQLite error \(error.extendedCode))"
      }
    self.init(error.status, advice)
  }
}
