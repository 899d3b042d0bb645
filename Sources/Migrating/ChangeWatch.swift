import SQLText
import SQLite

/// Tells whether anybody has committed to a database since a moment, also while somebody holds it
/// locked for writing.
final class ChangeWatch {
  private let connection: Connection
  let isWAL: Bool
  private var version: Int64?

  init(_ connection: Connection) throws(DatabaseError) {
    self.connection = connection
    isWAL = try connection.value("PRAGMA journal_mode") == "wal"
    version = current
  }

  var hasChanged: Bool { version == nil || current != version }

  /// In WAL mode readers are never locked out and may ask; otherwise the file's own counter tells.
  private var current: Int64? {
    isWAL
      ? (try? connection.value("PRAGMA data_version"))?.integer : connection.fileChangeCounter
  }
}
