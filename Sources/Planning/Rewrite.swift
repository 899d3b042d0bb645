import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// A rewrite of every row of a table. It creates the table with its final SQL under a temporary name, copies
/// the rows with one INSERT, and installs the result under the table's name.
///
/// It uses no ALTER TABLE RENAME, so SQLite rewrites no view, trigger or foreign key. There are two endings.
struct Rewrite {
  private let old: ParsedTable
  private let new: ParsedTable
  private let schema: Schema
  private let temporaryName: String
  /// The number of automatic indexes (`sqlite_autoindex_…`) of the new table.
  private let automaticIndexes: Int
  private let scan: String
  private let mayExchange: Bool
  private let formerName: String?

  /// The default of SQLITE_MAX_COLUMN (Limits In SQLite, 2).
  static let columnLimit = 2000

  /// A column of the new table, and its value as SQL over a row of the old table.
  struct Column {
    /// The quoted name.
    let name: String
    let value: String
    /// Whether it is a column of the old table with the same type whose values are copied unchanged.
    let isKept: Bool
  }

  /// - Parameters:
  ///   - final: the SQL that the table will have.
  ///   - schema: the schema with the table's indexes and triggers.
  ///   - formerName: the name that one of the table's columns has until the rows are copied.
  init(
    _ table: ParsedTable, as final: String, in schema: Schema, _ application: Application,
    formerName: String? = nil
  ) throws {
    old = table
    self.formerName = formerName
    new = try ParsedTable(table, as: ParsedTable(table, as: final).storedText(named: table.name))
    self.schema = schema
    let taken = Set(schema.objects.map(\.name.identifier))
    // SQLite and schemactl reserve names that begin with `sqlite_` and `schemactl_`.
    let isReserved = ["sqlite", "schemactl"].contains(table.name.identifier)
    var name = "\(isReserved ? "_" : "")\(table.name)_rewritten"
    while taken.contains(name.identifier) { name += "_" }
    temporaryName = name
    automaticIndexes = try Schema(of: Schema(objects: [new.object]).scratch(application)).objects
      .count { $0.kind == .index }
    mayExchange =
      !application.plansOperationsAlone
      && automaticIndexes == schema.objects(.index, on: table.name).count { $0.sql == nil }
    scan =
      try old.parsed.isWithoutRowid
      ? Schema(objects: [old.object]).scratch(application).fullScan(of: table.name) : "NOT INDEXED"
  }

  /// The columns that the copy fills.
  ///
  /// - Parameters:
  ///   - added: columns that the old table does not have.
  ///   - form: returns the new form of a column of the old table; nil if the copy does not fill it. A
  ///     generated column that remains generated is never filled.
  func columns(adding added: [Column] = [], form: (String) -> Column?) -> [Column] {
    old.parsed.columns.compactMap { column in
      let filled = form(column.name.text)
      return column.generated != nil && filled?.isKept ?? false ? nil : filled
    } + added
  }

  /// Plans the rewrite.
  ///
  /// - Parameters:
  ///   - questions: questions about rows, asked before anything is written.
  ///   - columns: the columns that the copy fills. The rowid is copied in addition if no column is an alias
  ///     of it.
  ///   - filter: SQL that is true for the rows of the old table that stay; nil for all rows.
  ///   - beforeInstalling: statements that run after the rows are copied.
  ///   - checks: whether a row that violates a CHECK fails. SQLite's own DROP COLUMN does not evaluate
  ///     CHECKs.
  ///   - after: steps on the new table.
  func plan(
    _ operation: Operation, because reason: String? = nil, questions: [Question], columns: [Column],
    filter: String? = nil, beforeInstalling: [String] = [], checks: Bool = true,
    after: [Step] = []
  ) throws -> OperationPlan {
    let filled = (rowid.map { [$0] } ?? []) + columns
    guard filled.count <= Self.columnLimit else {
      throw PlanningError(
        "cannot rewrite `\(old.name)`: SQLite reads at most \(Self.columnLimit) columns at once, "
          + "and the rowid is one more", kind: .failed)
    }
    let copy = RowCopy(
      of: old.name, to: temporaryName, columns: filled.map { ($0.name, $0.value) }, scan: scan,
      filter: filter)
    let create = Step.statement(qualified(textUnderTemporaryName), nil)
    let ending = exchanges(columns, filter) ? exchange(columns) : dropAndTakeName()
    func ignoringChecks(_ value: String) -> [Step] {
      checks ? [] : statements(["PRAGMA ignore_check_constraints = \(value)"])
    }
    let kept = Set(columns.filter(\.isKept).map(\.name.exact))
    let guards = old.parsed.columns.filter { kept.contains(Quoting.quoted($0.name.text).exact) }
      .compactMap { old.storageGuard(of: $0, scan) }
    let steps =
      [.rewriting(true)] + guards.map(Step.question) + [create]
      + ignoringChecks("ON") + [.copy(copy)] + ignoringChecks("OFF") + statements(beforeInstalling)
      + ending + [.rewriting(false)]
    // The rows that a filter selects are not proven: evaluated twice it may select different rows
    // (`random()`), and the manifest loses the other rows on purpose.
    let proofs =
      filter != nil
      ? []
      : [
        RowProof(
          of: old, as: new, keeping: columns.filter(\.isKept).map { Quoting.unquoted($0.name) },
          keepsRowids: keepsRowids(columns), formerName: formerName)
      ]
    return OperationPlan(
      operation: operation, strategy: .rewrite, because: reason,
      steps: questions.map(Step.question) + steps + after,
      expectations: [TableExpectation(table: old.name, sql: new.object.sql ?? "")], proofs: proofs)
  }

  private func statements(_ sql: [String]) -> [Step] { sql.map { .statement($0, nil) } }

  private var main: String { "main.\(Quoting.quoted(old.name))" }
  private var temporary: String { "main.\(Quoting.quoted(temporaryName))" }

  /// The final SQL with the temporary name in place of the table's own name, also where that qualifies a
  /// column: `CHECK (t.a > 0)`.
  private var textUnderTemporaryName: String {
    let tokens = new.tokens
    let significant = tokens.significant
    let name = new.parsed.name.range
    let qualifiers = zip(significant, significant.dropFirst()).filter { token, next in
      tokens.text(next) == "." && token.range.lowerBound > name.upperBound
        && Quoting.unquoted(tokens.text(token)).isSameName(as: old.name)
    }.map(\.0.range)
    return tokens.replacing(([name] + qualifiers).map { ($0, Quoting.quoted(temporaryName)) })
  }

  /// The rowid as a column. Nil if a column of the new table is an alias of it, if a table is WITHOUT ROWID,
  /// or if columns hide every name of the rowid.
  var rowid: Column? {
    guard !old.parsed.isWithoutRowid, !new.parsed.isWithoutRowid, !new.hasRowidAlias,
      let name = new.rowidName(), let value = old.rowidName(beside: formerName)
    else { return nil }
    return Column(name: name, value: value, isKept: false)
  }

  // MARK: Ending 1: exchange of the b-trees

  /// Whether the rewrite ends with an exchange. The rows must keep their rowids, by which the old table's
  /// indexes find them in the new table.
  func exchanges(_ columns: [Column], _ filter: String? = nil) -> Bool {
    mayExchange && filter == nil && keepsRowids(columns)
  }

  func keepsRowids(_ columns: [Column]) -> Bool {
    guard !old.parsed.isWithoutRowid, !new.parsed.isWithoutRowid else { return false }
    guard new.hasRowidAlias, let alias = new.identity.first.map({ Quoting.quoted($0).identifier })
    else { return rowid != nil }
    return old.hasRowidAlias
      && columns.contains { $0.name.identifier == alias && $0.value.identifier == alias }
      && old.identity == new.identity
  }

  /// Steps that exchange the b-trees of the two tables and drop the old one.
  ///
  /// Indexes, triggers, the AUTOINCREMENT counter and the statistics refer to the table's name or to rowids,
  /// so they remain valid. REINDEX rebuilds an index that reads a column with another declaration or other
  /// values.
  private func exchange(_ columns: [Column]) -> [Step] {
    let changed = changedColumns(columns)
    let stale = schema.objects(.index, on: old.name).filter { index in
      index.sql.map { reads(changed, $0) } ?? false
    }
    let sequence =
      switch (old.isAutoincrement, new.isAutoincrement) {
      case (true, false): ["DELETE FROM main.sqlite_sequence WHERE name = \(literal(old.name))"]
      case (false, true): [renamingSequence(from: temporaryName, to: old.name)]
      default: [String]()
      }
    let edit = SchemaEdit(
      table: old.name, sql: new.object.sql ?? "",
      change: .exchange(with: temporaryName, automaticIndexes: automaticIndexes))
    let after =
      sequence + ["DROP TABLE \(temporary)"]
      + stale.map { "REINDEX main.\(Quoting.quoted($0.name))" }
    return [.edit(edit)] + statements(after)
  }

  /// The columns of either table, except those whose values are copied unchanged and whose declarations are,
  /// for an index, the same in both tables.
  private func changedColumns(_ columns: [Column]) -> Set<Identifier> {
    var changed = Set((old.parsed.columns + new.parsed.columns).map(\.name.text.identifier))
    guard old.parsed.isStrict == new.parsed.isStrict else { return changed }
    let kept = Set(columns.filter(\.isKept).map(\.name.exact))
    for column in new.parsed.columns {
      guard let before = old.parsed.column(named: column.name.text),
        declaration(of: before, in: old) == declaration(of: column, in: new),
        column.generated != nil || kept.contains(Quoting.quoted(column.name.text))
      else { continue }
      changed.remove(column.name.text.identifier)
    }
    return new.withComputed(changed)
  }

  /// The normal tokens of the type, the collation and the expression of a generated column.
  private func declaration(of column: CreateTable.Column, in table: ParsedTable) -> [[UInt8]] {
    let ranges =
      [column.type?.range]
      + column.constraints.map { constraint in
        switch constraint.kind {
        case .collate, .generated: constraint.range
        default: nil
        }
      }
    return ranges.compactMap { $0 }.flatMap { table.tokens.normalTokens(in: $0) + [[]] }
  }

  /// Whether an index reads one of these columns.
  private func reads(_ columns: Set<Identifier>, _ sql: String) -> Bool {
    let tokens = TokenizedSQL(sql)
    guard case .createIndex(let index)? = try? parseCreate(tokens) else { return true }
    let range = index.table.range.upperBound..<tokens.bytes.count
    return tokens.identifiers(in: range, includingStrings: true).contains {
      columns.contains($0.text)
    }
  }

  // MARK: Ending 2: drop and rename

  /// Steps in the order of SQLite's documented procedure (ALTER TABLE, section 7): drop the old table, rename
  /// the new one, and create the indexes and triggers from their stored SQL. An edit of `sqlite_schema`
  /// renames the table, because ALTER TABLE RENAME would quote the name and fails on a CHECK that qualifies
  /// its columns.
  private func dropAndTakeName() -> [Step] {
    let statistics = ["sqlite_stat1", "sqlite_stat4"].filter { schema.table($0) != nil }
    func rename(_ table: String, from: String, to: String) -> String {
      "UPDATE main.\(table) SET tbl = \(literal(to)) WHERE tbl = \(literal(from))"
    }
    var before = statistics.map { rename($0, from: old.name, to: temporaryName) }
    if old.isAutoincrement, new.isAutoincrement {
      before += [
        "DELETE FROM main.sqlite_sequence WHERE name = \(literal(temporaryName))",
        renamingSequence(from: old.name, to: temporaryName),
      ]
    }
    before.append("DROP TABLE \(main)")
    let edit = SchemaEdit(
      table: old.name, sql: new.object.sql ?? "",
      change: .takeName(from: temporaryName, automaticIndexes: automaticIndexes))
    let dependents = schema.objects(.index, on: old.name) + schema.objects(.trigger, on: old.name)
    let after =
      (new.isAutoincrement ? [renamingSequence(from: temporaryName, to: old.name)] : [])
      + dependents.compactMap { $0.sql.map(qualified) }
      + statistics.map { rename($0, from: temporaryName, to: old.name) }
    return statements(before) + [.edit(edit)] + statements(after)
  }

  private func renamingSequence(from: String, to: String) -> String {
    "UPDATE main.sqlite_sequence SET name = \(literal(to)) WHERE name = \(literal(from))"
  }

  private func literal(_ text: String) -> String { Quoting.stringLiteral(text) }
}

extension ParsedTable {
  /// The SQL as SQLite stores it: `CREATE TABLE `, and then the text from the name to the last token. ALTER
  /// TABLE and VACUUM rely on that form, and the name must equal the one in the row of `sqlite_schema`.
  fileprivate func storedText(named name: String) -> String {
    let last = tokens.significant.last { tokens.text($0) != ";" }
    let own = parsed.name.range
    let text = parsed.name.text == name ? tokens.text(own) : Quoting.quoted(name)
    return "CREATE TABLE " + text
      + tokens.text(own.upperBound..<(last?.range.upperBound ?? tokens.bytes.count))
  }
}

extension Rewrite.Column {
  init(kept name: String) {
    self.init(name: Quoting.quoted(name), value: Quoting.quoted(name), isKept: true)
  }
}
