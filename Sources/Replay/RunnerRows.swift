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
  /// The temporary table that holds them; only with `--paranoid`.
  let snapshot: String?
}

/// The rows of a plan: copied, compared afterwards by their number, and with `--paranoid` in every column.
extension Runner {
  /// The table that one statement copies, and the count of its rows where that is known.
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

  /// Neither a manifest nor the values in a table can cause a difference: the statements are ours, and
  /// no trigger fires. So it is a bug, or a damaged file (`Upgrade`).
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

  /// Copies rows, and checks the pages of the new table before it takes the place of the old one.
  ///
  /// - Parameter count: of the rows; nil where it is not known.
  func run(
    _ copy: RowCopy, of count: Int64?, _ context: Context, record: inout Record
  ) throws {
    // SQLite names the new table in the message of a constraint.
    do throws(Failure) {
      try runOne(
        copy.statement, nil, context, copying: (copy.table, count), record: &record)
    } catch {
      throw error.cause?.code == .constraint
        ? error.adding("`\(copy.target)` is `\(copy.table)` in its new form") : error
    }
    if target == .database { try requireSound(copy.target, context) }
  }

  /// Checks the pages of a new table and of its automatic indexes.
  private func requireSound(_ table: String, _ context: Context) throws {
    let damage = try reporting(.verify, table) { () throws(DatabaseError) in
      try connection.structuralDamage(of: table)
    }
    guard let damage else { return }
    throw context.failure(
      .bug, "the new table `\(table)` is damaged: \(damage). SQLite rolled back every change")
  }

  /// An edit is not a statement of the migration, but it changes a table.
  func run(_ edit: SchemaEdit, _ context: Context) throws {
    try write(edit, context)
    try onStatement?(
      ReplayedStatement(
        operation: context.index, sql: edit.statement, position: context.operation.position,
        events: [], enforcesForeignKeys: connection.isOn(.foreignKeys)))
  }

  /// Edits the stored schema in place. The edit is part of the transaction, and is undone with it;
  /// defensive mode, which forbids it, is off only while it runs.
  private func write(_ edit: SchemaEdit, _ context: Context) throws {
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
    let version = try connection.value("PRAGMA main.schema_version")?.integer ?? 0
    // Every connection, this one too, reads the schema again when its version has changed.
    try connection.execute("PRAGMA main.schema_version = \(version + 1)")
    // What does not compile shows now, inside the savepoint; to run it reads the schema again.
    _ = try connection.value("SELECT 1 FROM main.\(Quoting.quoted(edit.table)) LIMIT 1")
  }

  // MARK: Progress

  /// How often progress is reported, in milliseconds.
  private static let reportInterval = Int64(100)

  /// Reports how many rows SQLite reads while `body` runs.
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

  /// What a statement of the manifest, or a generated one, does to rows, as its authorizer events tell.
  ///
  /// - Parameter rows: the table that it copies, and the count of its rows where that is known.
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
    var count: Int64?
    if index == nil, own.contains(where: { $0.action == .update }) {
      count = try rowsRead(by: statement.sql, in: object)
    }
    try reporting(index == nil ? .update : .index, object, of: count) { () throws(DatabaseError) in
      try statement.run()
    }
  }

  /// How many rows an UPDATE reads while it writes them; nil when it reads all of them first (it then keeps
  /// their keys in an ephemeral table), or reads other tables as well.
  private func rowsRead(by sql: String, in table: String) throws(DatabaseError) -> Int64? {
    let opcodes = try connection.rows("EXPLAIN \(sql)").compactMap { $0[1].text }
    guard !opcodes.contains("OpenEphemeral"), opcodes.count(where: { $0 == "Rewind" }) == 1
    else { return nil }
    return try connection.value("SELECT count(*) FROM main.\(Quoting.quoted(table))")?.integer
  }
}
