import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// SQL that recreates the schema and the rows of a scratch database in an empty database.
struct RowScript {
  /// Creates the tables, then inserts their rows, then creates the objects that would act on rows: indexes,
  /// views and triggers.
  private(set) var operations: [WrittenOperation] = []
  private(set) var count = 0
  private var tables: [SeededTable] = []

  /// Reads the schema and the rows.
  ///
  /// - Parameter other: the result of the same migrations at another time and with other random numbers.
  ///   Values that differ there depend on the clock or on random numbers.
  /// - Throws: a failure (1) for rows that SQL cannot recreate, such as rows with random values.
  init(_ scratch: ScratchDatabase, comparedWith other: ScratchDatabase) throws {
    let schema = scratch.schema.ours().withoutShadowTables()
    func write(_ kind: SchemaObject.Kind) {
      for object in schema.objects where object.kind == kind {
        if let sql = object.sql { operations.append(WrittenOperation(sql: sql)) }
      }
    }
    write(.table)
    // Fill virtual tables last: they may read other tables.
    let ordinary = schema.tables.filter { !$0.isVirtualTable }
    for object in ordinary + schema.tables.filter(\.isVirtualTable) {
      let table = try SeededTable(object, scratch.connection, other.connection)
      count += table.rows.count
      operations += table.operations
      tables.append(table)
    }
    operations += try counters(scratch.connection)
    write(.index)
    write(.view)
    write(.trigger)
  }

  /// Returns statements for the AUTOINCREMENT counters that differ from the greatest rowid of their table.
  private func counters(_ connection: Connection) throws -> [WrittenOperation] {
    let hasCounters = try connection.value(
      "SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence'")
    guard hasCounters != nil else { return [] }
    return try connection.rows("SELECT name, seq FROM main.sqlite_sequence").compactMap { row in
      guard let name = row[0].text, let counter = row[1].integer else { return nil }
      let greatest = try connection.value("SELECT max(rowid) FROM main.\(Quoting.quoted(name))")
      if greatest?.integer == counter { return nil }
      let literal = Quoting.stringLiteral(name)
      return WrittenOperation(
        sql: greatest?.integer == nil
          ? "INSERT INTO sqlite_sequence (name, seq) VALUES (\(literal), \(counter));"
          : "UPDATE sqlite_sequence SET seq = \(counter) WHERE name = \(literal);")
    }
  }

  /// Returns the first table whose rows differ in another database.
  func difference(from connection: Connection) throws -> String? {
    for table in tables where try !table.hasRows(in: connection) { return table.name }
    return nil
  }
}

/// A table and its rows.
private struct SeededTable {
  let name: String
  /// The columns that the INSERT statements name. They include the rowid if it must be preserved.
  let columns: [String]
  let rows: [[Value]]
  /// For each row, the SQL of the cells whose values depend on the clock, by column index.
  private var expressions: [[Int: String]] = []
  /// The statement that fills a full-text index over the text of another table; nil for all other tables.
  /// Empty if the index has no entries.
  private var rebuild: String?
  private let query: String

  init(_ object: SchemaObject, _ connection: Connection, _ other: Connection) throws {
    name = object.name
    let table = Quoting.quoted(object.name)
    let facts = try StoredTable(object.name, on: connection).columns.filter { !$0.isGenerated }
    var names = facts.map(\.name)
    let defaults = facts.map(\.defaultText)
    if object.isVirtualTable, let kind = try Self.externalIndex(object, connection) {
      rebuild = kind
      (columns, query) = ([], "SELECT * FROM temp.schemactl_terms ORDER BY 1, 2, 3, 4")
      rows = try Self.terms(of: name, query, connection)
      return
    }
    if let rowid = Identifier.rowids.first(where: { name in
      !names.contains { $0.identifier == name }
    })?.text, try Self.needsRowids(object, rowid, connection) {
      names.insert(rowid, at: 0)
    }
    columns = names
    let list = quotedList(names)
    query = "SELECT \(list.isEmpty ? "NULL" : list) FROM main.\(table)"
    rows = try connection.rows(query)
    let others = try other.rows(query)
    guard rows.count == others.count else {
      throw Self.refusal("the number of rows of `\(name)` depends")
    }
    // SQLite decodes text that is not UTF-8 with this character, so the script would change the bytes.
    let isUnreadable = rows.contains { row in
      row.contains { $0.text?.unicodeScalars.contains("\u{FFFD}") ?? false }
    }
    guard !isUnreadable else {
      throw Failure(
        .finding,
        "`\(name)` holds text that is not UTF-8, or the character U+FFFD, which a manifest cannot "
          + "keep byte by byte: name a migration before those that insert it. Nothing changed")
    }
    let shift = columns.count - defaults.count
    /// The number of rows without SQL for the value in a column, by column index.
    var unknown: [Int: Int] = [:]
    for (row, second) in zip(rows, others) {
      var cells: [Int: String] = [:]
      for index in row.indices where row[index] != second[index] {
        let column = index >= shift ? defaults[index - shift] : nil
        cells[index] = Self.clockExpression(
          row[index], second[index], columnDefault: column, connection, other)
        if cells[index] == nil { unknown[index, default: 0] += 1 }
      }
      expressions.append(cells)
    }
    if let (column, count) = unknown.min(by: { $0.key < $1.key }) {
      throw Self.refusal(
        "`\(name)` has \(counted(count, "row")) whose `\(columns[column])` depends")
    }
  }

  private static func refusal(_ problem: String) -> Failure {
    .unrepeatable("\(problem) on the clock or on random values when the migrations run")
  }

  /// Returns the statement that fills a full-text index with external content or without content, or nil for
  /// all other tables. The rows of such an index cannot be read from the index itself.
  ///
  /// - Throws: a failure for a contentless index that has entries.
  private static func externalIndex(
    _ object: SchemaObject, _ connection: Connection
  ) throws -> String? {
    let tokens = object.tokens
    guard case .createVirtualTable(let virtual)? = try? parseCreate(tokens),
      ["fts4", "fts5"].contains(virtual.module.text.identifier)
    else { return nil }
    for argument in virtual.arguments {
      let words = tokens.significant(in: argument).map { tokens.text($0) }
      guard words.count > 2, words[1] == "=", words[0].identifier == "content" else { continue }
      let count = try connection.value(
        "SELECT count(*) FROM \(Quoting.quoted(object.name + "_docsize"))")
      if count?.integer == 0 { return "" }
      guard !Quoting.unquoted(words[2]).isEmpty else {
        throw Failure(
          .finding,
          "`\(object.name)` indexes text that it does not keep, so a squash cannot fill it. "
            + "Nothing changed"
        )
      }
      let table = Quoting.quoted(object.name)
      return "INSERT INTO \(table) (\(table)) VALUES ('rebuild');"
    }
    return nil
  }

  /// Whether the rows have other rowids than the INSERT statements would give them.
  private static func needsRowids(
    _ object: SchemaObject, _ rowid: String, _ connection: Connection
  ) throws -> Bool {
    let table = "main.\(Quoting.quoted(object.name))"
    let rowids: [[Value]]
    do {
      rowids = try connection.rows("SELECT \(rowid) FROM \(table)")
    } catch {
      return false
    }
    if object.isVirtualTable { return !rowids.isEmpty }
    let areConsecutive = !rowids.enumerated().contains { $1[0].integer != Int64($0 + 1) }
    return !areConsecutive && !object.hasRowidAlias
  }

  // MARK: Writing

  /// Reads the terms of a full-text index, with their rows and positions.
  private static func terms(
    of table: String, _ query: String, _ connection: Connection
  ) throws -> [[Value]] {
    let isFTS4 = try connection.value(
      "SELECT 1 FROM sqlite_schema WHERE name = ?1", [.text(table + "_segments")])
    let arguments = Quoting.stringLiteral(table)
    try connection.execute(
      "CREATE VIRTUAL TABLE temp.schemactl_terms USING "
        + (isFTS4 == nil
          ? "fts5vocab(main, \(arguments), instance)" : "fts4aux(main, \(arguments))"))
    defer { try? connection.execute("DROP TABLE temp.schemactl_terms") }
    return try connection.rows(query)
  }

  var operations: [WrittenOperation] {
    if let rebuild { return rebuild.isEmpty ? [] : [WrittenOperation(sql: rebuild)] }
    guard !rows.isEmpty, !columns.isEmpty else { return [] }
    let names = columns.map { Quoting.identifier($0) }.joined(separator: ", ")
    let start = "INSERT INTO \(Quoting.identifier(name)) (\(names)) VALUES\n"
    return stride(from: 0, to: rows.count, by: 500).map { first in
      let lines = (first..<min(first + 500, rows.count)).map { index in
        let cells = rows[index].enumerated().map { column, value in
          expressions[index][column] ?? value.sql
        }
        return "  (\(cells.joined(separator: ", ")))"
      }
      return WrittenOperation(sql: start + lines.joined(separator: ",\n") + ";")
    }
  }

  func hasRows(in connection: Connection) throws -> Bool {
    if rebuild != nil { return try Self.terms(of: name, query, connection) == rows }
    return try connection.rows(query) == rows
  }

  // MARK: The clock

  private static let clockExpressions = [
    "CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "CAST(strftime('%s', 'now') AS INTEGER)",
    "strftime('%s', 'now')", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
    "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", "strftime('%Y-%m-%d %H:%M:%f', 'now')",
    "strftime('%Y-%m-%dT%H:%M:%S', 'now')", "strftime('%Y-%m-%dT%H:%M:%f', 'now')",
    "strftime('%Y', 'now')", "julianday('now')", "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
  ]

  /// Returns SQL for a value that comes from the clock; nil if none gives the values of both databases.
  ///
  /// - Parameters:
  ///   - first: the value in the first database.
  ///   - second: the value in the other database.
  ///   - columnDefault: the SQL of the column's default.
  private static func clockExpression(
    _ first: Value, _ second: Value, columnDefault: String?, _ connection: Connection,
    _ other: Connection
  ) -> String? {
    (clockExpressions + [columnDefault].compactMap { $0 }).first { sql in
      (try? connection.value("SELECT \(sql)")) == first
        && (try? other.value("SELECT \(sql)")) == second
    }
  }
}

extension Failure {
  /// The failure for rows that a squash cannot create, because the migrations create other rows in each run.
  static func unrepeatable(_ problem: String) -> Failure {
    Failure(
      .finding, "\(problem), so a squash cannot create the same rows. Nothing changed",
      remedy:
        "Name a migration before the one that writes these rows, or let the app write them "
        + "instead of a migration")
  }
}
