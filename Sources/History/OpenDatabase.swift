import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// Checks database files, and opens them.
package enum DatabaseFile {
  /// Requires the path of a file. schemactl opens only files: it would use the names of in-memory databases
  /// and the URIs of `sqlite3_open_v2` literally, and create files with such names.
  ///
  /// - Throws: a usage error (64) for an empty path, `:memory:`, `file:…` and `dqlite:…`, in any letter case.
  package static func requirePath(_ path: String) throws(Failure) {
    let folded = path.identifier
    guard !folded.hasPrefix("dqlite:") else {
      throw Failure(
        .usage,
        "`\(path)` is a dqlite database: only `migrate`, `plan`, `status`, `verify` and `diff` "
          + "support dqlite. This command needs the path of a database file")
    }
    guard !path.isEmpty else { throw Failure(.usage, "the path of the database is empty") }
    guard folded != ":memory:" else {
      throw Failure(
        .usage,
        "`\(path)` is an in-memory database, which exists only while schemactl runs: give the path "
          + "of a file. A file of that name is `./\(path)`")
    }
    guard !folded.hasPrefix("file:") else {
      throw Failure(
        .usage,
        "`\(path)` is a URI: pass the path of a database file. A file of that name is `./\(path)`")
    }
  }

  /// The first bytes of every SQLite database (Database File Format, section 1.3).
  package static let header = Array("SQLite format 3\0".utf8)

  /// Whether the file begins like an SQLite database; false for a file that cannot be read.
  package static func isDatabase(_ path: String) -> Bool {
    (try? readStart(of: path, count: header.count)) == header
  }

  /// Whether the header requires WAL mode (Database File Format, section 1.3.3); false for a file that cannot
  /// be read.
  private static func isWAL(_ path: String) -> Bool {
    (try? readStart(of: path, count: 20))?.dropFirst(18).first == 2
  }

  /// Whether the file exists. Throws if the path cannot be that of a readable database: for example, it is a
  /// folder, or its parent folder does not exist.
  package static func exists(_ path: String) throws(Failure) -> Bool {
    try requirePath(path)
    guard let status = FileStatus(path) else {
      switch errno {
      case ENOENT:
        let name = parentFolder(of: path)
        guard access(name, F_OK) == 0 else {
          guard errno == ENOENT || errno == ENOTDIR else { throw refusal(path, "open") }
          throw Failure(.notFound, "\(path): folder `\(name)` does not exist")
        }
        return false
      case ENOTDIR: throw Failure(.notFound, "`\(path)` does not exist")
      default: throw refusal(path, "open")
      }
    }
    guard status.isRegularFile else {
      let what = status.isFolder ? "a folder" : "a special file"
      throw Failure(.inputOutput, "`\(path)` is \(what), not an SQLite database")
    }
    guard access(path, R_OK) == 0 else { throw refusal(path, "read") }
    return true
  }

  package static func isFile(_ path: String) -> Bool { FileStatus(path)?.isRegularFile == true }

  /// The size in bytes; 0 if the file does not exist.
  package static func size(_ path: String) -> Int64 { FileStatus(path)?.bytes ?? 0 }

  /// Whether no file has this name, nor the name of a journal or WAL that SQLite would use with it.
  package static func isFree(_ path: String) -> Bool {
    databaseSuffixes.allSatisfy { FileStatus(path + $0, followingLinks: false) == nil }
  }

  /// Fails if SQLite could not create a file in the folder. SQLite itself does not report the reason.
  package static func requireWritableFolder(of path: String) throws(Failure) {
    guard !isWritableFolder(parentFolder(of: path)) else { return }
    throw refusal(path, "create")
  }

  /// The failure that `errno` describes.
  private static func refusal(
    _ path: String, _ verb: String, _ problem: Int32 = errno
  ) -> Failure {
    let reason =
      switch problem {
      case EACCES, EPERM: "permission denied"
      case EROFS: "the file system is read-only"
      default: String(cString: strerror(problem))
      }
    return Failure(ExitStatus(systemError: problem), "cannot \(verb) `\(path)`: \(reason)")
  }

  package static func require(_ path: String) throws(Failure) {
    guard try exists(path) else { throw Failure(.notFound, "database `\(path)` does not exist") }
  }

  /// Opens a database for reading. If the file has a hot journal, or a WAL without its index, opens it in
  /// read-write mode, so that SQLite can recover it.
  package static func openForReading(
    _ path: String, timeout: Double, interruption: Interruption = Interruption(),
    onWait: @escaping (Double) -> Void = { _ in }
  ) throws(Failure) -> Connection {
    do {
      do {
        return try open(path, .readOnly, timeout: timeout, interruption, onWait)
      } catch  where error.code == .cannotOpen || error.code == .readOnly {
        // SQLite reads a hot journal, or a WAL without its index, only on a connection that can write.
        let connection = try open(path, .readWrite, timeout: timeout, interruption, onWait)
        // Closing this connection must not remove the WAL that a killed process left behind.
        connection.set(.keepsLog, to: true)
        return connection
      }
    } catch {
      guard error.status == .bug else {
        let failure = Failure(error, database: path)
        guard failure.status == .permission, isWAL(path) else { throw failure }
        throw failure.advising(
          "A database in WAL mode needs a writable folder, because SQLite creates files in it even "
            + "to read. Copy the database with its `-wal` file to a writable folder")
      }
      // The first read failed: the file has a feature that this version of SQLite does not know.
      throw Failure(
        .inputOutput,
        "cannot read `\(path)` (\(error.message)): a newer SQLite created it, or it is damaged",
        remedy: "If it is damaged, restore it from a backup: \(restoreCommand(path))`")
    }
  }

  /// Refuses a database in WAL mode that has hard links: the write-ahead log of one name is invisible under
  /// the others (How To Corrupt An SQLite Database File, section 2.5).
  package static func requireOneName(
    _ connection: Connection, _ path: String
  ) throws(Failure) {
    guard connection.isInWALFormat == true, FileStatus(path)?.names ?? 1 > 1 else { return }
    throw Failure(
      .invalidInput,
      "`\(path)` is in WAL mode and has a second name (a hard link). The write-ahead log of one name "
        + "is invisible under the other, which loses changes. Nothing changed",
      remedy: "Remove the other name, or make a copy instead: `sqlite3 FILE \".backup COPY\"`")
  }

  /// Writes to a database in one durable transaction, or changes nothing.
  ///
  /// - Parameter borrowed: a connection of the application; nil opens one.
  package static func write<Result>(
    to path: String, on borrowed: Connection? = nil, timeout: Double,
    interruption: Interruption = Interruption(), _ body: (Connection) throws -> Result
  ) throws(Failure) -> Result {
    return try failing(on: path) {
      let connection = try borrowed ?? connect(path, timeout: timeout, interruption)
      if borrowed == nil { try connection.makeCommitsDurable() }
      try connection.execute("BEGIN IMMEDIATE")
      do {
        let result = try body(connection)
        if interruption.isRequested {
          throw Failure(.interrupted, "interrupted: nothing changed")
        }
        guard !connection.hasMoved else { throw Failure(moved: path) }
        try connection.execute("COMMIT")
        return result
      } catch {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        throw error
      }
    }
  }

  private static func open(
    _ path: String, _ mode: Connection.Mode, timeout: Double, _ interruption: Interruption,
    _ onWait: @escaping (Double) -> Void
  ) throws(DatabaseError) -> Connection {
    let connection = try connect(path, mode, timeout: timeout, interruption, onWait: onWait)
    _ = try connection.value("SELECT count(*) FROM main.sqlite_schema")
    return connection
  }

  /// Opens a connection that waits for locks and can be interrupted.
  package static func connect(
    _ path: String, _ mode: Connection.Mode = .readWrite, timeout: Double,
    _ interruption: Interruption, onWait: @escaping (Double) -> Void = { _ in }
  ) throws(DatabaseError) -> Connection {
    let connection = try Connection(path: path, mode: mode)
    connection.setBusyHandler(
      timeout: timeout, isCancelled: { interruption.isRequested }, onWait: onWait)
    interruption.watch(connection)
    return connection
  }
}

/// A database that is open for reading, and its name for messages.
package struct ReadableDatabase {
  package let connection: Connection
  package let name: String

  package init(_ connection: Connection, name: String) {
    self.connection = connection
    self.name = name
  }

  /// Opens a database file, which must exist.
  package init(
    file: String, timeout: Double, interruption: Interruption = Interruption(),
    onWait: @escaping (Double) -> Void = { _ in }
  ) throws(Failure) {
    guard
      let database = try Self(
        ifExists: file, timeout: timeout, interruption: interruption, onWait: onWait)
    else { throw Failure(.notFound, "database `\(file)` does not exist") }
    self = database
  }

  /// Opens a database file; nil if it does not exist.
  package init?(
    ifExists file: String, timeout: Double, interruption: Interruption = Interruption(),
    onWait: @escaping (Double) -> Void = { _ in }
  ) throws(Failure) {
    guard try DatabaseFile.exists(file) else { return nil }
    self.init(
      try DatabaseFile.openForReading(
        file, timeout: timeout, interruption: interruption, onWait: onWait), name: file)
  }

  /// Closes the connection. Call this before another connection writes the database: in WAL mode, SQLite
  /// removes the log only if the last connection to close can write.
  package func close() { connection.close() }
}

/// The current state of a database: its ledger and its schema, read in one transaction.
package struct LiveDatabase {
  /// The rows of the ledger; nil if the database has neither schemactl's ledger nor one that `replaces`
  /// names.
  package var rows: [LedgerRow]?
  package let schema: Schema
  /// The number of rows that are not written yet, because another tool made the changes of these migrations.
  package var adopted = 0

  package init(_ connection: Connection, _ ledger: Ledger, path: String) throws(Failure) {
    do {
      (rows, schema) = try connection.reading {
        (try ledger.rows(in: connection), try Schema(of: connection))
      }
      if let damage = schema.damage { throw Failure(damaged: path, damage) }
    } catch {
      throw Failure(of: error, database: path)
    }
  }
}

extension DatabaseFile {
  /// The reason why this process cannot write a database, which SQLite does not report; nil if nothing
  /// prevents it.
  package static func obstacle(_ path: String) -> String? {
    for file in databaseSuffixes.map({ path + $0 }) where access(file, F_OK) == 0 {
      if let refusal = refusal(file, R_OK | W_OK) {
        return file == path ? refusal : "`\(file)`: \(refusal)"
      }
    }
    return refusal(parentFolder(of: path), W_OK | X_OK).map {
      "its folder: \($0). SQLite writes files in the folder of a database, in WAL mode also to "
        + "read it"
    }
  }

  /// The reason why the file itself cannot be read, regardless of the files beside it; nil if it can be read.
  static func unreadability(_ path: String) -> String? {
    access(path, F_OK) == 0 ? refusal(path, R_OK) : nil
  }

  /// The missing permission in words; nil if access fails for another reason, such as a disk error.
  private static func refusal(_ path: String, _ mode: Int32) -> String? {
    guard access(path, mode) != 0, ExitStatus(systemError: errno) == .permission else { return nil }
    return String(cString: strerror(errno))
  }
}

extension ExitStatus {
  /// The status for an `errno` value of a file operation.
  package init(systemError: Int32) {
    self =
      switch systemError {
      case EACCES, EPERM, EROFS: .permission
      case EBUSY: .busy
      default: .inputOutput
      }
  }
}

extension Schema {
  /// A description of two tables or indexes that have the same root page; nil if there are none. A write to
  /// one damages the other.
  var damage: String? {
    var owners: [Int64: SchemaObject] = [:]
    for object in objects where object.rootPage != 0 {
      if let other = owners.updateValue(object, forKey: object.rootPage) {
        return "`\(other.name)` and `\(object.name)` begin on the same page"
      }
    }
    return nil
  }
}

extension Failure {
  package init(damaged database: String, _ what: String) {
    self.init(
      .inputOutput,
      "`\(database)` is damaged (\(what)). Nothing changed",
      remedy: Self.restoring(database))
  }
}

/// A request from another thread to stop, usually because of a signal.
///
/// SQLite ignores an interrupt that arrives between two statements. Therefore the request is a flag, which is
/// checked between statements and by each running statement.
package final class Interruption: Sendable {
  private let requested = Locked(false)
  private let connections = Locked<[Interruptible]>([])

  package init() {}

  package var isRequested: Bool { requested.withLock { $0 } }

  package func request() {
    requested.withLock { $0 = true }
    for connection in connections.withLock({ $0 }) { connection.interrupt() }
  }

  package func watch(_ connection: Connection) {
    let handle = connection.interruptHandle
    connections.withLock { connections in
      // One run may open thousands of databases, one after another.
      connections.removeAll(where: \.isClosed)
      connections.append(handle)
    }
    connection.setStopCheck { [weak self] in self?.isRequested ?? false }
  }
}
