import Planning
import SQLText
import SQLite

/// How many rows a table has, and what each column's values add up to.
package struct RowChecksums: Sendable, Equatable {
  package let rows: Int64
  /// In the order of the columns that were asked for; empty where rows are only counted.
  let columns: [Checksum]

  init(counting table: TableRows, on connection: Connection) throws(DatabaseError) {
    rows = try connection.value(table.count)?.integer ?? 0
    columns = []
  }

  /// Reads the whole table once.
  package init(of table: TableRows, on connection: Connection) throws(DatabaseError) {
    let key =
      table.isWithoutRowid
      ? try connection.value(
        "SELECT name FROM pragma_index_list(?1, 'main') WHERE origin = 'pk'", [.text(table.table)])?
        .text : nil
    let row =
      try connection.withChecksums { () throws(DatabaseError) in
        try connection.rows(table.query(key: key))
      }.first ?? []
    rows = row.first?.integer ?? 0
    columns = row.dropFirst().enumerated().flatMap { index, value in
      let left = table.columns.count - index * Checksum.valuesAtOnce
      return Checksum.list(min(left, Checksum.valuesAtOnce), from: value)
    }
  }
}

extension RowChecksums {
  /// What has become of the rows that a plan promises to keep, in words; nil when all are there.
  package func damage(seenIn after: RowChecksums, _ proof: RowProof) -> String? {
    let changed = zip(proof.before.columns, zip(columns, after.columns))
      .filter { $1.0 != $1.1 }.map { "\(proof.before.table).\($0.0)" }
    var found: [String] = []
    if rows != after.rows {
      found.append(
        "\(proof.before.table) had \(counted(rows, "row")) and came to have \(after.rows)")
    }
    if !changed.isEmpty {
      found.append("values changed that had to stay: \(listed(changed))")
    }
    guard !found.isEmpty else { return nil }
    return "\(found.joined(separator: "; ")) (\(counted(after.rows, "row")))"
  }
}

extension Runner {
  /// What a plan promises of rows: on a database their number, and with `--paranoid` every value, as
  /// always on a scratch database.
  func checksums(of rows: TableRows, _ context: Context) throws(Failure) -> RowChecksums {
    do {
      return target == .shadow || isParanoid
        ? try RowChecksums(of: rows, on: connection)
        : try RowChecksums(counting: rows, on: connection)
    } catch {
      throw context.failure(error, onShadow: target == .shadow)
    }
  }

  /// Looks at the pages of a table that was written anew, and of its indexes.
  func requireSound(_ table: String, _ context: Context) throws(Failure) {
    let damage: String?
    do {
      damage = try connection.structuralDamage(of: table)
    } catch {
      throw context.failure(error)
    }
    if let damage {
      throw context.failure(
        .bug,
        "the table \(table) is damaged after this operation: \(damage). Everything was rolled back")
    }
  }

  /// Neither a manifest nor the values in a table can bring a difference about: the statements are
  /// ours, no trigger fires. So it is no failed migration (3), after which one would correct the
  /// manifest, but a bug, or a damaged file (`Upgrade`).
  func compare(
    _ before: RowChecksums, with after: RowChecksums, _ proof: RowProof, _ context: Context
  ) throws(Failure) {
    guard let damage = before.damage(seenIn: after, proof) else { return }
    throw context.failure(
      .bug,
      "the rows are not what they must be after this operation: \(damage). "
        + "Everything was rolled back")
  }
}

/// The first ten, and how many more there are.
func listed(_ names: [String]) -> String {
  let more = names.count > 10 ? ", and \(names.count - 10) more" : ""
  return names.prefix(10).joined(separator: ", ") + more
}
