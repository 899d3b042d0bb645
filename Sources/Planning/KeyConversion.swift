import SchemaManifest
import SchemaModel
import SchemaSQLText

/// Plans `convert_primary_key`: an integer key becomes a UUID, in its table and in every column
/// anywhere that refers to it.
struct KeyConversion {
  private let conversion: ConvertPrimaryKey
  private let schema: Schema
  private let application: Application
  private let parent: ParsedTable
  private let key: CreateTable.Column
  /// The tables that change, the parent first, each with its columns that hold the key.
  private let affected: [(table: ParsedTable, columns: [String])]

  private static let keys = "temp.schemactl_keys"

  init(
    _ conversion: ConvertPrimaryKey, in schema: Schema, _ application: Application
  ) throws {
    self.conversion = conversion
    self.schema = schema
    self.application = application
    parent = try ParsedTable(named: conversion.table, in: schema)
    let columns = parent.parsed.columns.filter(parent.isInPrimaryKey)
    guard columns.count == 1 else {
      throw PlanningError(
        .manifest,
        columns.isEmpty
          ? "\(parent.name) has no primary key"
          : "the primary key of \(parent.name) has several columns: "
            + columns.map(\.name.text).joined(separator: ", "), key: "table")
    }
    key = columns[0]
    guard Affinity(ofType: key.type?.text ?? "") == .integer else {
      throw PlanningError(
        .manifest,
        "\(parent.name).\(key.name.text) is not an integer: its type is "
          + (key.type?.text ?? "not declared"), key: "table")
    }
    affected = try Self.holders(of: key, in: parent, schema)
    try requireNoReaders()
    try requireNoCalculations()
  }

  private func requireNoCalculations() throws {
    let uses = try KeyUses(of: affected, in: schema, application).found
    guard !uses.isEmpty else { return }
    throw PlanningError(
      .manifest,
      "\(parent.name).\(key.name.text) becomes a UUID, and these objects calculate with it: "
        + "\(uses.joined(separator: ", ")). Drop them before the conversion, and create them "
        + "again afterwards for a text", key: "table")
  }

  /// A full-text table finds the rows that it reads by an integer, and holds the values it has read.
  private func requireNoReaders() throws {
    for (table, columns) in affected {
      for column in columns {
        guard let reader = schema.tables.first(where: { $0.reads(column, of: table.name) }) else {
          continue
        }
        throw PlanningError(
          .manifest,
          "the virtual table \(reader.name) reads \(table.name).\(column), which becomes a UUID: "
            + "drop it first, and create it again afterwards, with content_rowid='rowid'",
          key: "table")
      }
    }
  }

  func plan(_ operation: Operation) throws -> OperationPlan {
    let key = Quoting.quoted(self.key.name.text)
    let main = "main.\(Quoting.quoted(parent.name))"
    var steps: [Step] = [
      .question(
        Question(
          RowQuery(
            of: parent, showing: [self.key.name.text], where: "typeof(\(key)) <> 'integer'"),
          of: parent.name,
          promise: "every value of \(parent.name).\(self.key.name.text) is an integer",
          message: "\(parent.name).\(self.key.name.text) holds keys that are not integers"))
    ]
    for (table, columns) in affected {
      steps += columns.filter { !isKey($0, of: table) }.map { dangling($0, in: table, main, key) }
    }
    steps += [
      .statement(
        "CREATE TABLE \(Self.keys) (old INTEGER PRIMARY KEY, new TEXT NOT NULL UNIQUE)", nil),
      .statement("INSERT INTO \(Self.keys) SELECT \(key), \(newKey(key)) FROM \(main)", nil),
    ]
    var expectations: [TableExpectation] = []
    var proofs: [RowProof] = []
    for (table, columns) in affected {
      let rewrite = try Rewrite(table, as: try text(of: table, columns), in: schema, application)
      let filled = filled(table, columns)
      steps += try rewrite.steps(columns: filled)
      expectations.append(rewrite.expectation)
      proofs += rewrite.proofs(filled)
    }
    steps.append(.statement("DROP TABLE \(Self.keys)", nil))
    return OperationPlan(
      operation: operation, strategy: .rewrite, because: "every row that holds the key changes",
      steps: steps, expectations: expectations, proofs: proofs)
  }

  // MARK: Values

  /// `from_integer` must give the same UUID on every device: the sixteen hexadecimal digits of the
  /// number, in order, around the version (8: custom, RFC 9562, section 5.8) and the variant.
  private func newKey(_ key: String) -> String {
    guard conversion.uuids == .fromInteger else { return "uuid()" }
    let digits = "printf('%016x', \(key))"
    return "substr(\(digits), 1, 8) || '-' || substr(\(digits), 9, 4) || '-8000-8000-00000000' || "
      + "substr(\(digits), 13)"
  }

  private func filled(_ table: ParsedTable, _ converted: [String]) -> [Rewrite.Column] {
    table.parsed.columns.filter { $0.generated == nil }.map { column in
      let name = Quoting.quoted(column.name.text)
      guard converted.contains(where: column.name.isSame) else {
        return Rewrite.Column(kept: column.name.text)
      }
      // Qualified: the column may be called like one of the keys' own.
      let key = "schemactl_key"
      return Rewrite.Column(
        name: name,
        value: "(SELECT \(key).new FROM \(Self.keys) AS \(key) "
          + "WHERE \(key).old = \(Quoting.quoted(table.name)).\(name))", isKept: false)
    }
  }

  private func isKey(_ column: String, of table: ParsedTable) -> Bool {
    table.name == parent.name && key.name.isSame(as: column)
  }

  private func dangling(
    _ column: String, in table: ParsedTable, _ main: String, _ key: String
  ) -> Step {
    .question(
      Question(
        RowQuery(
          of: table, showing: [column],
          where: "\(Quoting.quoted(column)) NOT IN (SELECT \(key) FROM \(main))"),
        of: table.name, parent.name,
        promise: "every value of \(table.name).\(column) is the key of a row of \(parent.name)",
        message:
          "\(table.name).\(column) holds keys that no row of \(parent.name) has, and they would "
          + "be lost: correct those rows first"))
  }

  // MARK: Definitions

  private func text(of table: ParsedTable, _ columns: [String]) throws -> String {
    var table = table
    for column in columns {
      let text = try text(of: column, in: table)
      table = try ParsedTable(table, as: text)
    }
    return table.tokens.text(0..<table.tokens.bytes.count)
  }

  private func text(of name: String, in table: ParsedTable) throws -> String {
    let column = try table.column(named: name)
    var text = ColumnText(column, of: table)
    text.setType("TEXT")
    guard isKey(name, of: table) else {
      if column.primaryKey != nil { text.setPrimaryKey(of: column) }
      return table.withoutAutoincrement(text.tableText)
    }
    if column.primaryKey != nil { text.setPrimaryKey(of: column) }
    // What engines that sync ask of a key, and what does no harm elsewhere.
    text.set("NOT NULL ON CONFLICT REPLACE") { if case .notNull = $0 { true } else { false } }
    if column.defaultExpression == nil {
      text.set("DEFAULT (uuid())") { if case .default = $0 { true } else { false } }
    }
    return table.withoutAutoincrement(text.tableText)
  }

  // MARK: Who holds the key

  private static func holders(
    of key: CreateTable.Column, in parent: ParsedTable, _ schema: Schema
  ) throws -> [(table: ParsedTable, columns: [String])] {
    let tables = schema.tables.filter { !$0.isInternal }.compactMap { try? ParsedTable($0) }
    var found = [(parent.name, key.name.text)]
    var index = 0
    // A column that refers to the key may be a key itself, to which others refer.
    while index < found.count {
      let (name, column) = found[index]
      index += 1
      guard let referred = tables.first(where: { $0.name == name }) else { continue }
      for table in tables {
        for holder in table.columns(referringTo: column, of: referred)
        where !found.contains(where: { $0.0 == table.name && $0.1 == holder }) {
          found.append((table.name, holder))
        }
      }
    }
    return tables.map { table in
      (table, found.filter { $0.0 == table.name }.map(\.1))
    }.filter { !$0.1.isEmpty }.sorted { $0.0.name == parent.name && $1.0.name != parent.name }
  }
}

extension ParsedTable {
  /// The columns that a foreign key of this table holds against that column.
  fileprivate func columns(referringTo column: String, of parent: ParsedTable) -> [String] {
    parsed.foreignKeys.flatMap { columns, reference -> [String] in
      guard reference.table.isSame(as: parent.name) else { return [] }
      let parents =
        reference.columns.isEmpty ? parent.primaryKey : reference.columns.map(\.text)
      return zip(columns, parents).filter { $1.identifier == column.identifier }
        .compactMap { self.parsed.column(named: $0.0.text)?.name.text }
    }
  }

  /// The text without the AUTOINCREMENT of a table-level key, which only integers may have.
  fileprivate func withoutAutoincrement(_ sql: String) -> String {
    let tokens = TokenizedSQL(sql)
    guard case .createTable(let table)? = try? parseCreate(tokens) else { return sql }
    for constraint in table.constraints {
      guard case .primaryKey(_, let isAutoincrement, _) = constraint.kind, isAutoincrement,
        let word = tokens.significant(in: constraint.range).first(where: {
          tokens.text($0).identifier == "AUTOINCREMENT"
        })
      else { continue }
      var bytes = tokens.bytes
      bytes.removeSubrange(word.range)
      return String(decoding: bytes, as: UTF8.self)
    }
    return sql
  }
}

extension ColumnText {
  /// PRIMARY KEY with its conflict clause, and without AUTOINCREMENT and an order, which mean
  /// something to integers only.
  fileprivate mutating func setPrimaryKey(of column: CreateTable.Column) {
    let action = column.primaryKey?.onConflict.map { " ON CONFLICT \($0.rawValue)" } ?? ""
    set("PRIMARY KEY" + action) { if case .primaryKey = $0 { true } else { false } }
  }
}
