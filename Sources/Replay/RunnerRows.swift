import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The rows of a table before a plan writes them.
struct KeptRows {
  let proof: RowProof
  let count: Int64
  /// The temporary table with a copy of the rows; nil without `--paranoid`.
  let snapshot: String?
}

/// The rows that a plan writes. Their number is compared before and after, and with `--paranoid` every
/// column.
extension Runner {
  /// The table that a statement copies, and its number of rows if that is known.
  typealias CopiedRows = (table: String, count: Int64?)

  func keep(_ proofs: [RowProof]) throws(DatabaseError) -> [KeptRows] {
    var kept: [KeptRows] = []
    for proof in isParanoid ? proofs.flatMap(\.parts) : proofs {
      let scan = try connection.fullScan(of: proof.table)
      let count = try reporting(.check, proof.table) { () throws(DatabaseError) in
        try connection.value(proof.count(scan))?.integer ?? 0
      }
      let snapshot = isParanoid ? "schemactl_kept\(kept.count)" : nil
      if let snapshot {
        for statement in proof.keeping(as: snapshot, scan) { try connection.execute(statement) }
      }
      kept.append(KeptRows(proof: proof, count: count, snapshot: snapshot))
    }
    return kept
  }

  /// Throws a failure if rows differ from those before the plan. Neither the manifest nor the values can
  /// cause a difference, because schemactl generates the statements and no trigger fires. So the cause is a
  /// bug or a damaged file (see `Upgrade`).
  func compare(_ kept: [KeptRows], _ context: Context) throws {
    for rows in kept {
      let difference = try reporting(.verify, rows.proof.table) { () throws(DatabaseError) in
        try self.difference(from: rows)
      }
      guard let difference else { continue }
      throw context.failure(
        .bug,
        "this operation changed rows that must not change: \(difference). SQLite rolled back every "
          + "change")
    }
  }

  private func difference(from rows: KeptRows) throws(DatabaseError) -> String? {
    let proof = rows.proof
    func holds(_ condition: String) throws(DatabaseError) -> Bool {
      try connection.value("SELECT \(condition)") == 1
    }
    let scan = try connection.fullScan(of: proof.table)
    let count = try connection.value(proof.count(scan))?.integer ?? 0
    guard count == rows.count else {
      return "row count of `\(proof.table)` changed from \(rows.count) to \(count)"
    }
    guard let snapshot = rows.snapshot, !proof.keeping(as: snapshot, scan).isEmpty else {
      return nil
    }
    defer { try? connection.execute("DROP TABLE temp.\(snapshot)") }
    guard try holds(proof.differs(from: snapshot, scan)) else { return nil }
    var changed: [String] = []
    if try !holds(proof.differs(from: snapshot, in: [], scan)) {
      for (place, column) in proof.columns.enumerated()
      where try holds(proof.differs(from: snapshot, in: [place], scan)) {
        changed.append("`\(proof.table).\(column)`")
      }
    }
    return changed.isEmpty
      ? "`\(proof.table)` has rows with other keys"
      : "other values in " + changed.abridged(to: 10).joined(separator: ", ")
  }

  /// Copies rows, and checks the new table before it replaces the old one.
  ///
  /// - Parameter count: the number of rows; nil if it is not known.
  func run(
    _ copy: RowCopy, of count: Int64?, _ context: Context, record: inout Record
  ) throws {
    // In the message about NOT NULL or UNIQUE, SQLite uses the name of the new table.
    do throws(Failure) {
      try runOne(
        copy.statement, nil, context, copying: (copy.table, count), record: &record)
    } catch {
      throw error.cause?.code == .constraint && error.message.contains(copy.target)
        ? error.adding("`\(copy.target)` is `\(copy.table)` in its new form") : error
    }
    if target == .database { try requireSound(copy.target, context) }
  }

  /// Checks the b-trees of a new table and of its automatic indexes.
  private func requireSound(_ table: String, _ context: Context) throws {
    let damage = try reporting(.verify, table) { () throws(DatabaseError) in
      try connection.structuralDamage(of: table)
    }
    guard let damage else { return }
    throw context.failure(
      .bug, "the new table `\(table)` is damaged: \(damage). SQLite rolled back every change")
  }

  /// Runs an edit and reports it to the observer: it is not a statement of the migration, but changes a
  /// table.
  func run(_ edit: SchemaEdit, _ context: Context) throws {
    try write(edit, context)
    try onStatement?(
      ReplayedStatement(
        operation: context.index, sql: edit.statement, position: context.operation.position,
        events: []))
  }

  /// Edits a row of `sqlite_schema`. The edit is part of the transaction. Defensive mode, which would forbid
  /// it, is off only during the edit.
  package func write(_ edit: SchemaEdit, _ context: Context) throws {
    reach.spread()
    let wasDefensive = connection.isOn(.defensive)
    let wasWritable = connection.isOn(.writableSchema)
    connection.set(.defensive, to: false)
    connection.set(.writableSchema, to: true)
    defer {
      connection.set(.writableSchema, to: wasWritable)
      connection.set(.defensive, to: wasDefensive)
    }
    let before = connection.totalChanges
    try connection.execute(edit.statement)
    guard connection.totalChanges == before + edit.count else {
      throw context.failure(
        .bug, "`sqlite_schema` does not hold `\(edit.table)` as planned")
    }
    try raiseSchemaVersion()
    // This statement reads the schema again. With `writable_schema`, SQLite would ignore an error in the new SQL,
    // and no other connection could read the database.
    connection.set(.writableSchema, to: false)
    _ = try connection.value("SELECT 1 FROM main.\(Quoting.quoted(edit.table)) LIMIT 1")
  }

  // MARK: Progress

  /// The interval between two reports of progress, in milliseconds.
  private static let reportInterval = Int64(50)

  /// Reports the number of rows that SQLite has read while `body` runs.
  func reporting<Result>(
    _ phase: MigrationPhase, _ object: String, of count: Int64? = nil,
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    guard target == .database, let onProgress else { return try body() }
    func report(_ rows: Int64) {
      let done = count.map { min(rows, $0) } ?? rows
      onProgress(PhaseProgress(phase: phase, object: object, done: done, all: count))
    }
    report(0)
    var reported = Stopwatch()
    connection.onScan { rows in
      guard reported.milliseconds >= Self.reportInterval else { return }
      reported = Stopwatch()
      report(rows)
    }
    defer { connection.onScan(nil) }
    return try body()
  }

  /// Runs a statement, and reports its progress if its authorizer events show that it writes rows or builds
  /// an index.
  ///
  /// - Parameter rows: the table that the statement copies, and its number of rows if that is known.
  func run(
    _ statement: Statement, _ events: [AuthorizerEvent], copying rows: CopiedRows?
  ) throws(DatabaseError) {
    if let rows {
      return try reporting(.copy, rows.table, of: rows.count) { () throws(DatabaseError) in
        try statement.run()
      }
    }
    let own = events.filter { $0.trigger == nil && $0.database == "main" }
    let index = own.first { $0.action == .createIndex }?.first
    let table = own.first { [.update, .insert, .delete].contains($0.action) }?.first
    guard target == .database, onProgress != nil, let object = index ?? table else {
      return try statement.run()
    }
    try reporting(index == nil ? .update : .index, object) { () throws(DatabaseError) in
      try statement.run()
    }
  }
}
