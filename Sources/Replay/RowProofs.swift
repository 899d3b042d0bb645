import SchemaHistory
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The rows of a table before a plan writes them.
struct KeptRows {
  let proof: RowProof
  let count: Int64
  /// The temporary table that holds them; only with `--paranoid`.
  let snapshot: String?
}

/// Proves that a plan keeps the rows that it promises to keep: by their number, and with `--paranoid` by
/// a join over every column.
extension Runner {
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
        "this operation changed rows that must not change: \(difference). Everything was "
          + "rolled back")
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
    for column in proof.columns where try holds(proof.differs(from: snapshot, in: column, scan)) {
      changed.append("`\(proof.table).\(column)`")
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
      let rows = CopiedRows(table: copy.table, count: count)
      try runOne(copy.statement, nil, context, copying: rows, record: &record)
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
      .bug, "the new table `\(table)` is damaged: \(damage). Everything was rolled back")
  }
}
