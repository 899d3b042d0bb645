import SchemaManifest
import SchemaModel
import SchemaSQLText

/// Plans `convert_primary_key`: replaces an integer key by a UUID, in its table and in every column of any
/// table that refers to it.
struct KeyConversion {
  private let conversion: ConvertPrimaryKey
  private let schema: Schema
  private let application: Application
  private let parent: ParsedTable
  private let key: CreateTable.Column
  /// The changed tables, the parent first, each with its columns that contain the key.
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
        columns.isEmpty
          ? "`\(parent.name)` has no primary key"
          : "the primary key of `\(parent.name)` has several columns: "
            + columns.map(\.name.text).joined(separator: ", "), key: "table")
    }
    key = columns[0]
    guard Affinity(ofType: key.type?.text ?? "") == .integer else {
      throw PlanningError(
        "`\(parent.name).\(key.name.text)` is not an integer: its type is "
          + (key.type?.text ?? "not declared"), key: "table")
    }
    affected = Self.holders(of: key, in: parent, schema)
    try requireNoReaders()
    try requireNoCalculations()
  }

  private func requireNoCalculations() throws {
    let uses = try KeyUses(of: affected, in: schema, application).found
    guard !uses.isEmpty else { return }
    throw PlanningError(
      "`\(parent.name).\(key.name.text)` becomes a UUID, and these objects calculate with it: "
        + "\(uses.joined(separator: ", ")). Drop them before the conversion, and create them again "
        + "afterwards for text keys", key: "table")
  }

  /// Refuses the conversion if a full-text table reads one of the columns: it finds the rows of its content
  /// table by an integer, and its index contains the old values.
  private func requireNoReaders() throws {
    for (table, columns) in affected {
      for column in columns {
        guard let reader = schema.tables.first(where: { $0.reads(column, of: table.name) }) else {
          continue
        }
        throw PlanningError(
          "the virtual table `\(reader.name)` reads `\(table.name).\(column)`, which becomes a UUID: "
            + "drop it first, and create it again afterwards, with `content_rowid='rowid'`",
          key: "table")
      }
    }
  }

  func plan(_ operation: Operation) throws -> OperationPlan {
    let key = Quoting.quoted(self.key.name.text)
    let main = "main.\(Quoting.quoted(parent.name))"
    let name = "\(parent.name).\(self.key.name.text)"
    let integers = parent.question(
      where: "typeof(\(key)) <> 'integer'", showing: [self.key.name.text],
      promise: "every value of `\(name)` is an integer",
      "`\(name)` holds keys that are not integers")
    let kept = affected.flatMap { table, columns in
      columns.filter { !isKey($0, of: table) }.map { column in
        table.question(
          where: "\(Quoting.quoted(column)) NOT IN (SELECT \(key) FROM \(main))", showing: [column],
          promise:
            "every value of `\(table.name).\(column)` is the key of a row of `\(parent.name)`",
          "`\(table.name).\(column)` holds keys that no row of `\(parent.name)` has, and they would "
            + "be lost: correct those rows first")
      }
    }
    let keys: [Step] = [
      .statement(
        "CREATE TABLE \(Self.keys) (old INTEGER PRIMARY KEY, new TEXT NOT NULL UNIQUE)", nil),
      .statement("INSERT INTO \(Self.keys) SELECT \(key), \(newKey(key)) FROM \(main)", nil),
    ]
    let rewrites = try affected.map { table, columns in
      try Rewrite(table, as: try text(of: table, columns), in: schema, application)
        .plan(operation, questions: [], columns: filled(table, columns))
    }
    return OperationPlan(
      operation: operation, strategy: .rewrite, because: "every row that holds the key changes",
      steps: ([integers] + kept).map(Step.question) + keys + rewrites.flatMap(\.steps)
        + [.statement("DROP TABLE \(Self.keys)", nil)],
      expectations: rewrites.flatMap(\.expectations), proofs: rewrites.flatMap(\.proofs))
  }

  // MARK: Values

  /// The new key of a row, as SQL.
  ///
  /// `from_integer` gives the same UUID on every device: the sixteen hexadecimal digits of the integer, in
  /// order, around the version (8: custom, RFC 9562, section 5.8) and the variant.
  private func newKey(_ key: String) -> String {
    guard conversion.uuids == .fromInteger else { return "uuid()" }
    let digits = "printf('%016x', \(key))"
    return "substr(\(digits), 1, 8) || '-' || substr(\(digits), 9, 4) || '-8000-8000-00000000' || "
      + "substr(\(digits), 13)"
  }

  private func filled(_ table: ParsedTable, _ converted: [String]) -> [Rewrite.Column] {
    table.plainColumns.map { column in
      let name = Quoting.quoted(column.name.text)
      guard converted.contains(where: column.name.isSame) else {
        return Rewrite.Column(kept: column.name.text)
      }
      // Qualified, because the column may have the name of a column of the table of keys.
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
    if let key = column.primaryKey {
      // AUTOINCREMENT and DESC are meaningful for integers only.
      let action = key.onConflict.map { " ON CONFLICT \($0.rawValue)" } ?? ""
      text.set(.primaryKey, "PRIMARY KEY" + action)
    }
    for constraint in table.parsed.constraints {
      guard case .primaryKey(let terms, isAutoincrement: true, _) = constraint.kind,
        terms.contains(where: { $0.column?.isSame(as: name) ?? false })
      else { continue }
      let word = table.tokens.significant(in: constraint.range)
        .first { table.tokens.isWord($0, "AUTOINCREMENT") }
      if let word { text.remove(word.range) }
    }
    guard isKey(name, of: table) else { return text.tableText }
    // Sync engines require this of a key. It is harmless elsewhere.
    text.set(.notNull, "NOT NULL ON CONFLICT REPLACE")
    if column.defaultExpression == nil { text.set(.default, "DEFAULT (uuid())") }
    return text.tableText
  }

  // MARK: Columns that contain the key

  private static func holders(
    of key: CreateTable.Column, in parent: ParsedTable, _ schema: Schema
  ) -> [(table: ParsedTable, columns: [String])] {
    let tables = schema.tables.filter { !$0.isInternal }.compactMap { try? ParsedTable($0) }
    var found = [(parent.name, key.name.text)]
    var index = 0
    // A column that refers to the key may itself be a key to which other columns refer.
    while index < found.count {
      let (name, column) = found[index]
      index += 1
      guard let referred = tables.first(where: { $0.name == name }) else { continue }
      for table in tables {
        for (holder, target) in table.references(to: referred).joined()
        where target.isSameName(as: column)
          && !found.contains(where: { $0.0 == table.name && $0.1 == holder })
        {
          found.append((table.name, holder))
        }
      }
    }
    return tables.map { table in
      (table, found.filter { $0.0 == table.name }.map(\.1))
    }.filter { !$0.1.isEmpty }.sorted { $0.0.name == parent.name && $1.0.name != parent.name }
  }
}
