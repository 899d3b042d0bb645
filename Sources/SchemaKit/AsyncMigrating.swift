import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// Calls that wait for SQLite run on a separate thread, so that no other task waits for them.
extension SchemaMigrator {
  /// Applies the migrations that a database has not run yet. Creates a missing file.
  ///
  /// Cancelling the task stops the running statement and rolls back uncommitted changes.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - options: the options of the run.
  ///   - onProgress: called on the thread that migrates.
  /// - Throws: ``SchemaError``, with the code ``SchemaError/Code/interrupted`` for a cancelled task.
  @discardableResult
  public func migrate(
    databaseAt path: String, _ options: MigrationOptions = MigrationOptions(),
    onProgress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) async throws(SchemaError) -> MigrationReport {
    try await onThread { interruption throws(SchemaError) in
      try migrate(.file(path), options, interruption, onProgress)
    }
  }

  /// Applies the migrations that the database of an open connection has not run yet. Nothing may use the
  /// connection before the call returns. The form without `async` lists the requirements for the connection.
  ///
  /// - Parameters:
  ///   - handle: the `sqlite3 *`.
  ///   - options: the options of the run.
  ///   - onProgress: called on the thread that migrates.
  /// - Throws: ``SchemaError``, with the code ``SchemaError/Code/interrupted`` for a cancelled task.
  @discardableResult
  public nonisolated(nonsending) func migrate(
    handle: OpaquePointer, _ options: MigrationOptions = MigrationOptions(),
    onProgress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) async throws(SchemaError) -> MigrationReport {
    let target = Target.handle(handle)
    return try await onThread { interruption throws(SchemaError) in
      try migrate(target, options, interruption, onProgress)
    }
  }

  /// Migrates a database, and reports the progress. The last element is ``MigrationProgress/finished(_:)``.
  /// If the loop ends early, the migration is cancelled.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - options: the options of the run.
  public func migrating(
    databaseAt path: String, _ options: MigrationOptions = MigrationOptions()
  ) -> AsyncThrowingStream<MigrationProgress, any Error> {
    stream(.file(path), options)
  }

  /// Migrates the database of an open connection, and reports the progress. Nothing may use the connection
  /// before the last element has arrived.
  ///
  /// - Parameters:
  ///   - handle: the `sqlite3 *`.
  ///   - options: the options of the run.
  public func migrating(
    handle: OpaquePointer, _ options: MigrationOptions = MigrationOptions()
  ) -> AsyncThrowingStream<MigrationProgress, any Error> {
    stream(.handle(handle), options)
  }

  /// Reports which migrations a database has run. Writes nothing.
  ///
  /// - Parameter path: the database file.
  public func status(databaseAt path: String) async throws(SchemaError) -> DatabaseStatus {
    try await onThread { interruption throws(SchemaError) in
      try status(of: .file(path), interruption)
    }
  }

  /// Reports which migrations the database of an open connection has run. Nothing may use the connection
  /// before the call returns.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  public nonisolated(nonsending) func status(
    handle: OpaquePointer
  ) async throws(SchemaError) -> DatabaseStatus {
    let target = Target.handle(handle)
    return try await onThread { interruption throws(SchemaError) in
      try status(of: target, interruption)
    }
  }

  /// Checks a history, and compares a database with it. Writes nothing.
  ///
  /// - Parameter path: the database file; nil to check only the history.
  public func verify(
    databaseAt path: String? = nil
  ) async throws(SchemaError) -> VerificationReport {
    try await onThread { interruption throws(SchemaError) in
      try verify(path.map(Target.file), interruption)
    }
  }

  /// Checks a history, and compares the database of an open connection with it. Nothing may use the
  /// connection before the call returns.
  ///
  /// - Parameter handle: the `sqlite3 *`.
  public nonisolated(nonsending) func verify(
    handle: OpaquePointer
  ) async throws(SchemaError) -> VerificationReport {
    let target = Target.handle(handle)
    return try await onThread { interruption throws(SchemaError) in
      try verify(target, interruption)
    }
  }

  private func stream(
    _ target: Target, _ options: MigrationOptions
  ) -> AsyncThrowingStream<MigrationProgress, any Error> {
    // A slow reader misses old elements, but never the last element.
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
      let interruption = Interruption()
      continuation.onTermination = { reason in
        if case .cancelled = reason { interruption.request() }
      }
      let hasStarted = startThread {
        do throws(SchemaError) {
          let report = try migrate(target, options, interruption) { continuation.yield($0) }
          continuation.yield(.finished(report))
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      if hasStarted == nil { continuation.finish(throwing: SchemaError.noThread) }
    }
  }

  private nonisolated(nonsending) func onThread<Result: Sendable>(
    _ body: @escaping @Sendable (Interruption) throws(SchemaError) -> Result
  ) async throws(SchemaError) -> Result {
    let interruption = Interruption()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasStarted = startThread {
          let result = Swift.Result { () throws(SchemaError) in try body(interruption) }
          continuation.resume(returning: result)
        }
        if hasStarted == nil { continuation.resume(returning: .failure(.noThread)) }
      }
    } onCancel: {
      interruption.request()
    }
    return try result.get()
  }
}

extension SchemaError {
  fileprivate static var noThread: SchemaError {
    SchemaError(Failure(.inputOutput, "the system cannot start a thread"))
  }
}
