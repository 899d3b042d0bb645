import Planning
import SQLText
import SQLite

/// How many rows a table has, and what each column's values add up to.
package struct RowChecksums: Sendable, Equatable {
  package let rows: Int64
  /// In the order of the columns that were asked for.
  let columns: [Checksum]

  init(ofNoRowOf table: TableRows) {
    self.init(rows: 0, columns: table.columns.map { _ in Checksum() })
  }

  private init(rows: Int64, columns: [Checksum]) {
    self.rows = rows
    self.columns = columns
  }

  /// Of the rows of both.
  static func + (a: RowChecksums, b: RowChecksums) -> RowChecksums {
    RowChecksums(rows: a.rows + b.rows, columns: zip(a.columns, b.columns).map { $0 + $1 })
  }

  /// Reads them without SQLite, nil where only SQLite can.
  init?(in stretch: ClosedRange<Int64>, of table: StoredTable) {
    guard let (rows, columns) = table.checksums(of: stretch) else { return nil }
    self.init(rows: rows, columns: columns)
  }

  /// Reads the whole table once, or the rows whose rowids lie in `stretch`.
  package init(
    of table: TableRows, in stretch: ClosedRange<Int64>? = nil, on connection: Connection
  ) throws(DatabaseError) {
    let key =
      table.isWithoutRowid
      ? try connection.value(
        "SELECT name FROM pragma_index_list(?1, 'main') WHERE origin = 'pk'", [.text(table.table)])?
        .text : nil
    let row =
      try connection.withChecksums { () throws(DatabaseError) in
        try connection.rows(
          table.query(key: key, isStretch: stretch != nil),
          stretch.map { [.integer($0.lowerBound), .integer($0.upperBound)] } ?? [])
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

extension StoredTable {
  /// How many rows are read both ways first.
  private static let tried = 100

  /// Flushes what the connection's transaction has changed.
  ///
  /// - Returns: nil where the file does not tell what the connection reads, which is tried with some
  ///   rows, and while a statement is running, whose pages stay in the cache.
  convenience init?(
    of rows: TableRows, in file: Connection, beside connection: Connection
  ) throws(DatabaseError) {
    guard let rowid = rows.rowid, !connection.hasRunningStatement else { return nil }
    try connection.flush()
    let root = try connection.value(
      "SELECT rootpage FROM main.sqlite_schema WHERE type = 'table' AND name = ?1",
      [.text(rows.table)])
    let last = try connection.value(
      "SELECT \(rowid) FROM main.\(Quoting.quoted(rows.table)) ORDER BY \(rowid) "
        + "LIMIT 1 OFFSET \(Self.tried)")
    guard let root = root?.integer,
      let encoding = try connection.value("PRAGMA main.encoding")?.text
    else { return nil }
    self.init(root: root, columns: rows.storedColumns(encoding: encoding), in: file)
    let first = .min...(last?.integer ?? .max)
    let asked = try RowChecksums(of: rows, in: first, on: connection)
    guard RowChecksums(in: first, of: self) == asked else { return nil }
  }
}

extension Runner {
  func checksums(of rows: TableRows, _ context: Context) throws(Failure) -> RowChecksums {
    do {
      if let file = target == .database ? fileBeside?() : nil,
        let other = try? Connection(path: file, mode: .immutable)
      {
        interruption.watch(other)
        let table = try StoredTable(of: rows, in: other, beside: connection)
        if let checksums = table.flatMap({ RowChecksums(in: .min ... .max, of: $0) }) {
          return checksums
        }
      }
      return try RowChecksums(of: rows, on: connection)
    } catch {
      throw context.failure(error, onShadow: target == .shadow)
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
