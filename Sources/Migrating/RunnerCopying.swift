import ManifestFormat
import Planning
import SQLText
import SQLite

extension Runner {
  /// About how long one chunk may take: often enough for a line that shows progress, and long enough
  /// that the chunks cost nothing.
  private static let chunkTime = Duration.milliseconds(100)

  /// Copies rows, a chunk at a time on a real database. What a chunk holds depends on how fast it
  /// goes; what the copy holds in the end does not.
  func run(_ copy: RowCopy, _ context: Context, record: inout Record) throws(Failure) {
    guard target == .database, copy.hasKey else {
      return try runOne(copy.statement, nil, context, record: &record)
    }
    do {
      var past: [Value]?
      var size = 1_000
      var (done, all) = (Int64(0), Int64(0))
      repeat {
        try stopIfInterrupted(context)
        let started = ContinuousClock.now
        let bound = try connection.rows(
          copy.bound(isFirst: past == nil, rows: size), past ?? []
        ).first
        let isFirst = past == nil
        done += try run(
          copy.chunk(isFirst: isFirst, isLast: bound == nil), (past ?? []) + (bound ?? []),
          of: copy.statement, context)
        past = bound
        if all == 0, bound != nil { all = try connection.value(copy.count)?.integer ?? 0 }
        if all > 0 { onCopy?(copy, done, all) }
        let elapsed = ContinuousClock.now - started
        if elapsed < Self.chunkTime / 2 { size *= 2 }
        if elapsed > Self.chunkTime * 2 { size = max(size / 2, 1) }
      } while past != nil
      try onStatement?(
        RunStatement(
          operation: context.index, sql: copy.statement, position: context.operation.position,
          events: statementGuard.events))
    } catch let error as DatabaseError {
      throw context.failure(
        error, position: context.operation.position, statement: copy.statement, onShadow: false)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw context.failure(.bug, "\(error)")
    }
  }

  /// Runs a part of a generated statement.
  ///
  /// - Returns: how many rows it has written.
  func run(
    _ chunk: String, _ values: [Value], of statement: String, _ context: Context
  ) throws -> Int64 {
    let before = connection.totalChanges
    statementGuard.startStatement()
    calls?.clear()
    try statementGuard.watching { () throws(DatabaseError) in
      try connection.execute(chunk, values)
    }
    try stopIfCalled(context, statement)
    return connection.totalChanges - before
  }
}
