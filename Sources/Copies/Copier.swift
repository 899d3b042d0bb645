import SchemaHistory
import SchemaModel
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

  /// Pages between two questions whether to stop.
  static let step = 4096

  /// Copies a database as it is at one moment: in a read transaction, so that others may read meanwhile
  /// and, in WAL mode, write.
  ///
  /// - Parameters:
  ///   - target: the beginning of the copy's path.
  ///   - purpose: for messages: `a backup of app.sqlite`.
  ///   - isPrivate: whether only its owner may read it until it is known who else may.
  ///   - needed: the free bytes that a copy of so many bytes, and the work on it, need.
  package func copy(
    _ source: Connection, for target: String, _ purpose: String, isPrivate: Bool = true,
    needed: (Int64) -> Int64 = { $0 }
  ) throws(Failure) -> TemporaryFile {
    do {
      return try source.reading {
        let bytes = try source.sizeInBytes()
        try FreeSpace.require(needed(bytes), in: parentFolder(of: target), for: purpose)
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

  /// - Throws: a `Failure` when the copy is the cause, and what SQLite reports of the source.
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
    // SQLite opens for reading what it cannot open for writing, and does not report why.
    if target.isReadOnly {
      let obstacle = DatabaseFile.obstacle(file.path)
      throw failure(
        obstacle == nil ? .inputOutput : .permission,
        "cannot open \(file.path) for writing" + (obstacle.map { ": \($0)" } ?? ""))
    }
    do {
      // Nobody needs half a copy, and it is synced before it gets its name.
      try target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
      try source.backup(to: target, pages: Self.step) { left, all in
        onEvent(
          .copying(done: all == 0 ? bytes : bytes / Int64(all) * Int64(all - left), of: bytes))
        return !interruption.isRequested
      }
    } catch {
      // Only the copy of a private database can cause an error.
      if error.isFullDisk || error.code == .readOnly || source.path == ":memory:" {
        throw failure(error)
      }
      guard error.code == .ioError else { throw error }
      throw failure(
        .inputOutput,
        "copying \(source.path) to \(file.path) failed (\(error.message), SQLite error "
          + "\(error.extendedCode)). Check the disk and its file system before you try again")
    }
  }

  /// An empty file for a database that does not exist yet.
  package func makeEmpty(for target: String) throws(Failure) -> TemporaryFile {
    do {
      return try TemporaryFile(for: target, .database(isPrivate: true))
    } catch {
      throw Failure(error)
    }
  }

  /// Opens a database to copy it, or to replace what it holds.
  package func open(_ path: String, _ mode: Connection.Mode = .readWrite) throws(Failure)
    -> Connection
  {
    do {
      return try DatabaseFile.connect(path, mode, timeout: timeout, interruption) {
        onEvent(.waiting(seconds: $0))
      }
    } catch {
      throw Failure(error, database: path)
    }
  }

  /// Opens a copy so that no file appears beside it. A path that leads to a database in use is read with
  /// its log and its locks.
  package func openCopy(_ path: String) throws(Failure) -> Connection {
    // SQLite, too, looks for these files beside the one that a link leads to.
    let file = (try? resolvedPath(path)) ?? path
    if DatabaseFile.size(file + "-journal") > 0 { return try open(path) }
    let connection = try open(path, .readOnly)
    // Reading it in WAL mode would make the log and its index.
    guard connection.isInWALFormat == true else { return connection }
    let isInUse = ["-wal", "-shm"].contains { FileStatus(file + $0) != nil }
    return try open(path, isInUse ? .readWrite : .immutable)
  }
}

extension Connection {
  /// With the content of the write-ahead log.
  fileprivate func sizeInBytes() throws(DatabaseError) -> Int64 {
    let pages = try value("PRAGMA main.page_count")?.integer ?? 0
    return pages * (try value("PRAGMA main.page_size")?.integer ?? 0)
  }
}

/// The room on a disk, which is asked for before anything large is written there.
package enum FreeSpace {
  /// - Parameter purpose: what needs it: `a backup of app.sqlite`.
  /// - Throws: when there is less (74).
  static func require(
    _ bytes: Int64, in folder: String, for purpose: String
  ) throws(Failure) {
    // Where the file system cannot tell, the write itself will find out.
    guard let free = freeBytes(inFolder: folder), free < bytes else { return }
    throw Failure(
      .inputOutput,
      "\(purpose) needs \(size(bytes, .up)), and \((try? resolvedPath(folder)) ?? folder) has "
        + "\(size(free, .down)) free. Free some space first")
  }

  /// `466 MB`, as disks are sold.
  package static func size(_ bytes: Int64, _ rule: FloatingPointRoundingRule = .up) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
    var amount = Double(bytes)
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
