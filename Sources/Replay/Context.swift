import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The migration and the operation that run, for error messages.
package struct Context {
  package let migration: Migration
  /// The operation's index in the manifest, from 0.
  package let index: Int
  package let operation: Operation
  private let name: String?

  package init(migration: Migration, index: Int, operation: Operation) {
    self.migration = migration
    self.index = index
    self.operation = operation
    name = "\(index + 1) \(operation.name)"
  }

  /// The last operation that created, changed or wrote one of these tables, or the whole migration if none did.
  package init(migration: Migration, lastWriting tables: Set<Identifier>, in writeSet: WriteSet) {
    let operations = migration.manifest.operations
    guard let index = tables.compactMap({ writeSet.lastOperations[$0] }).max(),
      operations.indices.contains(index)
    else {
      self.init(migration: migration)
      return
    }
    self.init(migration: migration, index: index, operation: operations[index])
  }

  package init(migration: Migration, assertion: Assertion) {
    self.migration = migration
    index = 0
    operation = Operation(name: "assert", kind: .assert(assertion), position: assertion.position)
    name = "assertion"
  }

  package init(migration: Migration) {
    self.migration = migration
    index = 0
    operation = Operation(name: "sql", kind: .sql([]), position: Position(line: 1, column: 1))
    name = nil
  }

  package func failure(
    _ status: ExitStatus, _ message: String, key: String? = nil, position: Position? = nil,
    statement: String? = nil, remedy: String? = nil
  ) -> Failure {
    let place = position ?? key.flatMap { operation.keys[$0] } ?? operation.position
    return Failure(
      status, message, remedy: remedy, place: Failure.Place(file: migration.file, position: place),
      migration: Failure.FailedMigration(id: migration.id, operation: name, statement: statement))
  }

  /// The failure for an error in a statement. If the disk, a lock or memory caused SQLite's error, the
  /// failure has the exit status for that, not the one of a failed migration. On a scratch database, which
  /// has no file, only an interruption, memory and temporary files can cause such an error.
  ///
  /// - Returns: for a failure, the failure itself; for an unknown error, a bug.
  package func failure(
    _ error: any Error, position: Position? = nil, statement: String? = nil,
    onScratch: Bool = false
  ) -> Failure {
    if let failure = error as? Failure { return failure }
    if let error = error as? PlanningError {
      return failure(
        error.kind == .manifest ? .invalidInput : .migrationFailed, error.message, key: error.key,
        position: error.position)
    }
    guard let error = error as? DatabaseError else { return failure(.bug, "\(error)") }
    if let exceeded = error.exceeded {
      var failure = failure(
        .migrationFailed, exceeded.inWords, position: position, statement: statement ?? error.sql)
      failure.cause = error
      return failure
    }
    let scratchFaults: [ResultCode] = [.interrupted, .outOfMemory, .ioError, .cannotOpen]
    let isFault = onScratch ? scratchFaults.contains(error.code) : error.isFault
    var failure = failure(
      isFault ? error.status : .migrationFailed, error.message + advice(on: error),
      position: position, statement: statement ?? error.sql)
    failure.fault = isFault ? error : nil
    failure.cause = error
    return failure
  }

  /// Advice for a rename that would break a view or a trigger, because SQLite does not rewrite objects that
  /// read the renamed column from a view; and for a column that a constraint prevents SQLite from dropping.
  private func advice(on error: DatabaseError) -> String {
    func begins(_ starts: String...) -> Bool { starts.contains(where: error.message.hasPrefix) }
    if begins("error in view ", "error in trigger "), error.message.contains(" after rename: ") {
      return ". Drop it first, and create it again afterwards"
    }
    if begins("cannot drop PRIMARY KEY column: ", "cannot drop UNIQUE column: ")
      || begins("error in table ") && error.message.contains(" after drop column: ")
    {
      return ". SQLite cannot drop a column that a constraint or a generated column uses: use "
        + "`rebuild_table` with the columns and constraints that remain"
    }
    return ""
  }
}

extension DatabaseError {
  /// SQLite's message, or the limit of a scratch database that stopped the statement.
  package var inWords: String { exceeded?.inWords ?? message }
}

extension Failure {
  /// The failure for an error that ended a command.
  package init(of error: any Error) {
    if let error = error as? DatabaseError {
      self.init(error.status, "cannot read the schema: \(error.inWords)")
    } else {
      self.init(of: error, database: nil)
    }
  }
}

extension WorkLimit.Exceeded {
  package var inWords: String {
    switch self {
    case .seconds(let seconds):
      "this statement exceeded the replay time limit of \(shown(seconds)) s. If it does end, raise "
        + "`replay: { seconds: … }` in `schemactl.yaml`"
    case .steps: "this statement exceeded the limit of SQLite instructions"
    case .megabytes(let megabytes):
      "this statement exceeded the replay size limit of \(megabytes) MB. If it needs more, raise "
        + "`replay: { megabytes: … }` in `schemactl.yaml`"
    }
  }
}

/// The values that stopped a migration, and the number of rows that contain each of them.
private struct HeldValues {
  private static let shown = 10

  private let scan: Scan
  private let groups: [(value: Value, rows: Int64)]
  private let rows: Int64
  private let distinct: Int64

  /// Reads the values, which takes a pass over the rows. Only for a scan that has found a value.
  init(of scan: Scan, on source: some RowSource) throws(DatabaseError) {
    self.scan = scan
    let column = "+\(Quoting.quoted(scan.column)) COLLATE BINARY"
    let grouped = """
      SELECT \(column) AS v, typeof(\(Quoting.quoted(scan.column))) AS class, count(*) AS n
      FROM main.\(Quoting.quoted(scan.table)) WHERE \(scan.predicate) GROUP BY 1, 2
      """
    let totals = try source.rows("SELECT sum(n), count(*) FROM (\(grouped))")
    rows = totals.first?[0].integer ?? 0
    distinct = totals.first?[1].integer ?? 0
    groups = try source.rows(
      "SELECT v, n FROM (\(grouped)) ORDER BY n DESC, class, v LIMIT \(Self.shown)"
    ).map { ($0[0], $0[1].integer ?? 0) }
  }

  func message(redacted: Bool) -> String {
    let values = groups.map { group in
      let value = redacted ? "a value" : group.value.shown
      return "\(value) (\(group.value.storageClass)) in \(counted(group.rows, "row"))"
    }
    var list = values.joined(separator: ", ")
    if distinct > Self.shown {
      list += ", and \(counted(distinct - Int64(Self.shown), "more value"))"
    }
    return """
      \(counted(rows, "row")) of `\(scan.table)` \(rows == 1 ? "holds" : "hold") a value in \
      `\(scan.column)` that \(scan.problem.clause): \(list). \
      \(scan.problem.advice(isOne: distinct == 1)), or correct the rows first
      """
  }
}

extension Context {
  /// The failure for a question that was answered with yes.
  package func failure(
    _ question: Question, on source: some RowSource, redacted: Bool
  ) throws(DatabaseError) -> Failure {
    let values = try question.scan.map { (scan) throws(DatabaseError) in
      try HeldValues(of: scan, on: source).message(redacted: redacted)
    }
    var failure = failure(
      .migrationFailed, values ?? question.message, key: question.scan?.problem.key)
    failure.rows = question.rows
    return failure
  }
}

extension Scan.Problem {
  fileprivate func advice(isOne: Bool) -> String {
    let them = isOne ? "it" : "them"
    return switch self {
    case .unmapped: "Name \(them) in `map`"
    case .changed(_, "using"), .changed(_, "copy"):
      "Convert \(them) in the expression, with CAST if the new value is intended"
    case .refused(_, "type"), .changed:
      "Use `move_column` with `map` or `using` to convert \(them)"
    case .refused: "Convert \(them) with `copy`"
    }
  }
}

extension Failure {
  private static let shown = 10

  /// Adds the rows that stopped a migration, and the SELECT that lists them.
  ///
  /// - Parameter source: a database on which the failed step is rolled back, so that a reader finds the same
  ///   rows.
  package func namingRows(on source: some RowSource, redacted: Bool) -> Failure {
    guard let query = rows, (try? query.doubt.map { try source.rows($0).isEmpty }) != false,
      let found = try? source.rows("\(query.sql) LIMIT \(Self.shown)"), !found.isEmpty,
      let count = try? source.rows("SELECT count(*) FROM (\(query.sql))").first?[0].integer
    else { return self }
    let who =
      query.isGrouped
      ? "\(counted(count, "value")) in more than one row" : counted(count, "row")
    var rows = found.map { row in
      zip(query.columns, row).map { "\($0) = \($1.shown)" }.joined(separator: ", ")
    }
    if count > found.count { rows.append("and \(grouped(count - Int64(found.count))) more") }
    return adding("found \(who)" + (redacted ? "" : ": \(rows.joined(separator: "; "))"))
      .adding("list: \(query.sql)")
  }
}
