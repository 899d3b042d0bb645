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
  /// - Throws: a failure (1) for rows that SQL cannot recreate.
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
    try requireIndependentChances()
    operations += try counters(scratch.connection)
    write(.index)
    write(.view)
    write(.trigger)
  }

  /// Fails if two cells share a random value. Each random value becomes an expression of its own, so a copied
  /// value, such as a child's reference to a random key, would no longer be equal to the original.
  private func requireIndependentChances() throws(Failure) {
    var seen: [(value: String, table: String)] = []
    for table in tables {
      for value in table.randomValues {
        let text = value.lowercased()
        if seen.contains(where: { $0.value.contains(text) || text.contains($0.value) }) {
          throw Self.refusal(
            "`\(table.name)` holds a random value that another row or column repeats")
        }
        seen.append((text, table.name))
        guard seen.count <= 2000 else {
          throw Self.refusal("the migrations insert more than 2,000 random values")
        }
      }
    }
  }

  private static func refusal(_ problem: String) -> Failure {
    Failure(
      .finding,
      "\(problem), so a squash cannot create the same rows: name a migration before those that "
        + "insert them. Nothing changed")
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
  /// For each row, the SQL of the cells whose values depend on the clock or on random numbers, by column
  /// index.
  private var expressions: [[Int: CellExpression]] = []
  /// The statement that fills a full-text index over the text of another table; nil for all other tables.
  /// Empty if the index has no entries.
  private var rebuild: String?
  private let query: String

  init(_ object: SchemaObject, _ connection: Connection, _ other: Connection) throws {
    name = object.name
    let table = Quoting.quoted(object.name)
    let facts = try connection.rows(
      "SELECT name, dflt_value, pk, type FROM pragma_table_xinfo(?1) WHERE hidden = 0",
      [.text(object.name)])
    var names = facts.compactMap { $0[0].text }
    let defaults = facts.map { $0[1].text }
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
    guard rows.count == others.count else { throw Self.refusal(name, "the number of rows") }
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
    for (row, second) in zip(rows, others) {
      var cells: [Int: CellExpression] = [:]
      for index in row.indices where row[index] != second[index] {
        let column = index >= shift ? defaults[index - shift] : nil
        guard
          let cell = try CellExpression(
            row[index], second[index], columnDefault: column, connection, other)
        else { throw Self.refusal(name, "column `\(columns[index])`") }
        cells[index] = cell
      }
      expressions.append(cells)
    }
  }

  /// The random values in the rows.
  var randomValues: [String] {
    zip(rows, expressions).flatMap { row, cells in
      cells.filter(\.value.isRandom).map { index, _ in
        switch row[index] {
        case .blob(let bytes): Quoting.blobLiteral(bytes)
        case .integer(let number): "integer \(number) "
        case .text(let text): text
        case .null, .real: "\(row[index])"
        }
      }
    }
  }

  private static func refusal(_ table: String, _ what: String) -> Failure {
    Failure(
      .finding,
      "\(what) of `\(table)` depends on the clock or on random values when the migrations run, so "
        + "a squash cannot create the same rows: name a migration before those that insert them. "
        + "Nothing changed")
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
          expressions[index][column]?.sql ?? value.sql
        }
        return "  (\(cells.joined(separator: ", ")))"
      }
      return WrittenOperation(sql: start + lines.joined(separator: ",\n") + ";")
    }
  }

  func hasRows(in connection: Connection) throws -> Bool {
    if rebuild != nil { return try Self.terms(of: name, query, connection) == rows }
    let actual = try connection.rows(query)
    guard actual.count == rows.count else { return false }
    return zip(zip(rows, actual), expressions).allSatisfy { pair, cells in
      pair.0.indices.allSatisfy { index in
        pair.0[index] == pair.1[index] || cells[index]?.isRandom == true
      }
    }
  }
}

/// SQL for a value that differs from run to run.
private struct CellExpression {
  let sql: String
  /// Whether the value is random, and does not come from the clock.
  let isRandom: Bool

  private static let clock = [
    "CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "CAST(strftime('%s', 'now') AS INTEGER)",
    "strftime('%s', 'now')", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
    "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", "strftime('%Y-%m-%d %H:%M:%f', 'now')",
    "strftime('%Y-%m-%dT%H:%M:%S', 'now')", "strftime('%Y-%m-%dT%H:%M:%f', 'now')",
    "strftime('%Y', 'now')", "julianday('now')", "CAST(strftime('%s', 'now') AS INTEGER) * 1000",
  ]

  /// Finds SQL for a value; nil if there is none.
  ///
  /// - Parameters:
  ///   - first: the value in the first database.
  ///   - second: the value in the other database.
  ///   - columnDefault: the SQL of the column's default.
  init?(
    _ first: Value, _ second: Value, columnDefault: String?, _ connection: Connection,
    _ other: Connection
  ) throws {
    for sql in Self.clock + [columnDefault].compactMap({ $0 }) {
      // A default that calls a random function gives another value each time. It is tried below.
      guard let one = try? connection.value("SELECT \(sql)"), one == first,
        let two = try? other.value("SELECT \(sql)"), two == second
      else { continue }
      (self.sql, isRandom) = (sql, false)
      return
    }
    if let columnDefault, columnDefault.utf8.contains(UInt8(ascii: "(")) {
      (sql, isRandom) = ("(\(columnDefault))", true)
      return
    }
    guard let sql = Self.chance(first) else { return nil }
    (self.sql, isRandom) = (sql, true)
  }

  /// Returns a call of the random function whose fixed results (see `fixClockAndChance`) include a value.
  private static func chance(_ value: Value) -> String? {
    switch value {
    case .integer(let number) where (0..<10_000_000).contains(number): "random()"
    case .text(let text) where text.hasPrefix("a5a5a5a5-"): "uuid()"
    case .blob(let bytes) where bytes.first == 0xA5: "randomblob(\(bytes.count))"
    case .text(let text) where text.hasPrefix("a5a5"):
      "lower(hex(randomblob(\(text.utf8.count / 2))))"
    case .text(let text) where text.hasPrefix("A5A5"): "hex(randomblob(\(text.utf8.count / 2)))"
    default: nil
    }
  }
}
