import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Copies databases into temporary files, page by page.
package struct Copier {
  let timeout: Double
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  package init(
    timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) {
    self.timeout = timeout
    self.interruption = interruption
    self.onEvent = onEvent
  }

  /// The number of pages between two checks for an interruption.
  static let step = 4096

  /// Copies a snapshot of a database in a read transaction. Meanwhile other connections can read and, in WAL
  /// mode, write.
  ///
  /// - Parameters:
  ///   - target: the beginning of the copy's path.
  ///   - purpose: the copy in messages, with its path in backquotes.
  ///   - isPrivate: whether only the owner may read the copy until its final permissions are set.
  ///   - needed: the free bytes that are necessary for a copy of the given size and the work on it.
  package func copy(
    _ source: Connection, for target: String, _ purpose: String, isPrivate: Bool = true,
    needed: (Double) -> Double = { $0 }
  ) throws(Failure) -> TemporaryFile {
    do {
      return try source.reading {
        let bytes = try source.sizeInBytes()
        try FreeSpace.require(needed(Double(bytes)), in: parentFolder(of: target), for: purpose)
        let file = try TemporaryFile(for: target, .database(isPrivate: isPrivate))
        try fill(file, from: source, bytes, purpose)
        return file
      }
    } catch {
      let failure = Failure(of: error, database: source.path)
      guard !(error is Failure), [.inputOutput, .permission].contains(failure.status) else {
        throw failure
      }
      throw Failure(failure.status, "cannot create \(purpose): \(failure.message)")
    }
  }

  /// - Throws: a `Failure` if the copy is the cause, or SQLite's error if the source is.
  private func fill(
    _ file: TemporaryFile, from source: Connection, _ bytes: Int64, _ purpose: String
  ) throws {
    onEvent(.copying(done: 0, of: bytes))
    func failure(_ status: ExitStatus, _ message: String) -> Failure {
      Failure(status, "cannot create \(purpose): \(message)")
    }
    func failure(_ error: DatabaseError) -> Failure {
      let ofCopy = Failure(error, database: file.path)
      return failure(ofCopy.status, ofCopy.message)
    }
    let target: Connection
    do {
      target = try Connection(path: file.path, mode: .readWrite)
    } catch {
      throw failure(error)
    }
    // If SQLite cannot open a file for writing, it opens it for reading, and does not report the reason.
    if target.isReadOnly {
      let obstacle = DatabaseFile.obstacle(file.path)
      throw failure(
        obstacle == nil ? .inputOutput : .permission,
        "cannot open `\(file.path)` for writing" + (obstacle.map { ": \($0)" } ?? ""))
    }
    do {
      // A partial copy is useless, and the file is synced before it gets its name. So SQLite need not sync
      // it.
      try target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
      try source.backup(to: target, pages: Self.step) { left, all in
        onEvent(
          .copying(done: all == 0 ? bytes : bytes / Int64(all) * Int64(all - left), of: bytes))
        return !interruption.isRequested
      }
    } catch {
      // If the source is a private database, only the copy can cause an error.
      if error.isFullDisk || error.code == .readOnly || source.path == ":memory:" {
        throw failure(error)
      }
      guard error.code == .ioError else { throw error }
      throw failure(
        .inputOutput,
        "copying `\(source.path)` to `\(file.path)` failed (\(error.message), SQLite error "
          + "\(error.extendedCode)). Check the disk and its file system before you try again")
    }
  }

  /// Creates an empty file for a database that does not exist yet.
  package func makeEmpty(for target: String) throws(Failure) -> TemporaryFile {
    return try failing { try TemporaryFile(for: target, .database(isPrivate: true)) }
  }

  /// Opens a database to copy it, or to replace its content.
  package func open(_ path: String, _ mode: Connection.Mode = .readWrite) throws(Failure)
    -> Connection
  {
    return try failing(on: path) {
      return try DatabaseFile.connect(path, mode, timeout: timeout, interruption) {
        onEvent(.waiting(seconds: $0))
      }
    }
  }

  /// Opens a copy without creating files next to it. If the path is that of a database in use, reads it with
  /// its WAL and its locks.
  package func openCopy(_ path: String) throws(Failure) -> Connection {
    // SQLite also looks for these files next to the target of a link.
    let file = (try? resolvedPath(path)) ?? path
    if DatabaseFile.size(file + "-journal") > 0 { return try open(path) }
    let connection = try open(path, .readOnly)
    // Reading a database in WAL mode would create the WAL and its index.
    guard connection.isInWALFormat == true else { return connection }
    let isInUse = ["-wal", "-shm"].contains { FileStatus(file + $0) != nil }
    return try open(path, isInUse ? .readWrite : .immutable)
  }
}

extension Connection {
  /// The size, including the content of the write-ahead log.
  fileprivate func sizeInBytes() throws(DatabaseError) -> Int64 {
    let pages = try value("PRAGMA main.page_count")?.integer ?? 0
    return pages * (try value("PRAGMA main.page_size")?.integer ?? 0)
  }
}

/// The free space on a disk, which is checked before a large file is written.
package enum FreeSpace {
  /// - Parameter purpose: the file in messages, with its path in backquotes.
  /// - Throws: a failure (74) if less space is free.
  static func require(
    _ bytes: Double, in folder: String, for purpose: String
  ) throws(Failure) {
    // If the file system does not report its free space, the write itself fails when the disk is full.
    guard let free = freeBytes(inFolder: folder), free < bytes else { return }
    throw Failure(
      .inputOutput,
      "\(purpose) needs \(size(bytes, .up)), and `\((try? resolvedPath(folder)) ?? folder)` has "
        + "\(size(free, .down)) free. Free some space first")
  }

  /// The size in decimal units, such as `466 MB`.
  package static func size(_ bytes: Double, _ rule: FloatingPointRoundingRule = .up) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
    var amount = bytes
    var unit = 0
    while amount >= 1000, unit < units.count - 1 {
      amount /= 1000
      unit += 1
    }
    let tenths = (amount * 10).rounded(rule) / 10
    let isWhole = unit == 0 || amount >= 10
    return "\(isWhole ? String(Int64(amount.rounded(rule))) : String(tenths)) \(units[unit])"
  }
}
