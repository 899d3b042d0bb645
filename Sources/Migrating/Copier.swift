import SQLText
import SQLite

/// Copies databases page by page, while others go on using them.
struct Copier {
  let timeout: Double
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  /// Pages between two looks at what may stop it.
  private static let step = 4096

  init(
    timeout: Double, interruption: Interruption,
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) {
    self.timeout = timeout
    self.interruption = interruption
    self.onEvent = onEvent
  }

  /// A copy, and what tells whether the database has changed since it was begun.
  struct Copy {
    let partial: PartialCopy
    let watch: ChangeWatch
    /// Of the database, with what stands in its write-ahead log.
    let bytes: Int64
  }

  // MARK: Copying

  /// Copies a database as it is at one moment.
  ///
  /// - Parameters:
  ///   - base: how the copy's path begins.
  ///   - purpose: what it is for messages: `a backup of app.sqlite`.
  ///   - room: how much has to be free for a copy of so many bytes and what will be done with it.
  /// - Returns: nil when somebody wrote meanwhile and the copy had to be given up.
  func copy(
    _ database: String, as base: String, _ purpose: String, room: (Int64) -> Int64 = { $0 }
  ) throws(Failure) -> Copy? {
    do {
      let source = try open(database, .readWrite)
      // A log that somebody has left is read, and stays.
      if DatabaseFile.size(database + "-wal") > 0 { source.set(.keepsLog, to: true) }
      return try copy(source, as: base, purpose, room)
    } catch let error as DatabaseError {
      let failure = Failure(error, database: database)
      guard failure.status == .inputOutput else { throw failure }
      throw Failure(.inputOutput, "\(purpose) cannot be made: \(failure.message)")
    } catch {
      throw Failure(of: error, database: database)
    }
  }

  /// A copy of a file that nobody works on.
  func copy(
    still path: String, as base: String, _ purpose: String
  ) throws(Failure) -> PartialCopy {
    do {
      let source = try open(path, DatabaseFile.stillMode(of: path))
      let bytes = try source.sizeInBytes()
      try FreeSpace.require(bytes, in: parentFolder(of: base), for: purpose)
      let partial = try PartialCopy(as: base)
      try fill(partial, from: source, bytes, purpose)
      return partial
    } catch {
      throw Failure(of: error, database: path)
    }
  }

  /// A file with what a private database holds, as SQLite would have made it there.
  func write(_ source: Connection, as base: String) throws(Failure) -> PartialCopy {
    do {
      let partial = try PartialCopy(as: base, mode: 0o644)
      try fill(partial, from: source, try source.sizeInBytes(), base)
      return partial
    } catch {
      throw Failure(of: error, database: base)
    }
  }

  private func copy(
    _ source: Connection, as base: String, _ purpose: String, _ room: (Int64) -> Int64
  ) throws -> Copy? {
    let watch = try ChangeWatch(source)
    // In WAL mode a snapshot is in nobody's way. Otherwise it would lock writers out, and a copy
    // that somebody has written into is given up instead.
    if watch.isWAL { try source.execute("BEGIN") }
    let bytes = try source.sizeInBytes()
    try FreeSpace.require(room(bytes), in: parentFolder(of: base), for: purpose)
    let partial = try PartialCopy(as: base)
    do {
      try fill(partial, from: source, bytes, purpose, watch)
    } catch let error as DatabaseError where error.code == .interrupted {
      if interruption.isRequested { throw error }
      return nil
    }
    if watch.isWAL { try source.execute("COMMIT") }
    return Copy(partial: partial, watch: watch, bytes: bytes)
  }

  /// - Throws: with the code `interrupted` also when somebody has written to what is copied; a
  ///   `Failure` when the copy is to blame.
  private func fill(
    _ partial: PartialCopy, from source: Connection, _ bytes: Int64, _ purpose: String,
    _ watch: ChangeWatch? = nil
  ) throws {
    let target: Connection
    do throws(Failure) {
      target = try open(partial)
    } catch {
      throw Failure(error.status, "\(purpose) cannot be made: \(error.message)")
    }
    onEvent(.copying(done: 0, of: bytes))
    guard !interruption.isRequested else {
      throw DatabaseError(extendedCode: ResultCode.interrupted.rawValue, message: "interrupted")
    }
    do {
      try source.backup(to: target, pages: Self.step) { left, all in
        let done = all == 0 ? bytes : bytes / Int64(all) * Int64(all - left)
        onEvent(.copying(done: done, of: bytes))
        if let watch, !watch.isWAL, watch.hasChanged { return false }
        return !interruption.isRequested
      }
    } catch {
      guard let message = blame(error, partial, source) else { throw error }
      throw Failure(error.status, "\(purpose) cannot be made: \(message)")
    }
  }

  /// Whether copying has failed because of the copy, or of one of the two; nil when it is the source.
  private func blame(
    _ error: DatabaseError, _ partial: PartialCopy, _ source: Connection
  ) -> String? {
    if error.isFullDisk || error.code == .readOnly {
      return Failure(error, database: partial.path).message
    }
    guard error.code == .ioError else { return nil }
    return "copying \(source.path) to \(partial.path) failed (\(error.message), SQLite error "
      + "\(error.extendedCode)). Look at the disk and its file system before you try again"
  }

  private func open(_ partial: PartialCopy) throws(Failure) -> Connection {
    do throws(DatabaseError) {
      let target = try Connection(path: partial.path, mode: .readWrite)
      // What SQLite cannot open for writing it opens for reading, and does not say why.
      if !target.isReadOnly {
        // Nobody needs what is half written there, and it is synced before it gets its name.
        try target.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        return target
      }
    } catch {
      throw Failure(error, database: partial.path)
    }
    let obstacle = DatabaseFile.obstacle(partial.path)
    throw Failure(
      obstacle == nil ? .inputOutput : .permission,
      "\(partial.path) cannot be opened for writing" + (obstacle.map { ": \($0)" } ?? ""))
  }

  func open(
    _ path: String, _ mode: Connection.Mode
  ) throws(DatabaseError) -> Connection {
    let connection = try Connection(path: path, mode: mode)
    connection.setBusyHandler(
      timeout: timeout, isCancelled: { interruption.isRequested },
      onWait: { onEvent(.waiting(seconds: $0)) })
    interruption.watch(connection)
    return connection
  }
}

extension Connection {
  /// With what stands in the write-ahead log.
  fileprivate func sizeInBytes() throws(DatabaseError) -> Int64 {
    let pages = try value("PRAGMA main.page_count")?.integer ?? 0
    return pages * (try value("PRAGMA main.page_size")?.integer ?? 0)
  }
}
