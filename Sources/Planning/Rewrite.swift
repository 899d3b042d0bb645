import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Rewrites every row of a table: creates the table with its final text under a temporary name, copies
/// the rows with one INSERT, and installs the result under the table's name.
///
/// Nothing is renamed, so SQLite rewrites no view, trigger or foreign key. There are two endings.
struct Rewrite {
  private let old: ParsedTable
  private let new: ParsedTable
  private let schema: Schema
  private let temporaryName: String
  private let automaticIndexes: AutomaticIndexes
  private let scan: String
  private let mayExchange: Bool

  /// SQLITE_MAX_COLUMN, unless SQLite was built otherwise (Limits In SQLite, 2).
  static let columnLimit = 2000

  /// How many automatic indexes (`sqlite_autoindex_…`) each of the two tables has.
  private struct AutomaticIndexes {
    let old: Int
    let new: Int
  }

  /// A column of the new table, and its value over a row of the old one.
  struct Column {
    /// Quoted.
    let name: String
    let value: String
    /// Whether it is a column of the old table with the same type, copied as it is.
    let isKept: Bool
  }

  /// - Parameters:
  ///   - final: the text that the table will have.
  ///   - schema: holds the table's indexes and triggers.
  init(
    _ table: ParsedTable, as final: String, in schema: Schema, _ application: Application
  ) throws {
    old = table
    new = try ParsedTable(table, as: ParsedTable(table, as: final).storedText(named: table.name))
    self.schema = schema
    mayExchange = !application.plansForLint
    let taken = Set(schema.objects.map(\.name.identifier))
    // SQLite and schemactl keep `sqlite_…` and `schemactl_…` for themselves.
    let isReserved = ["sqlite", "schemactl"].contains(table.name.identifier)
    var name = "\(isReserved ? "_" : "")\(table.name)_rewritten"
    while taken.contains(name.identifier) { name += "_" }
    temporaryName = name
    automaticIndexes = AutomaticIndexes(
      old: schema.objects(.index, on: table.name).count { $0.sql == nil },
      new: try Schema(of: Schema(objects: [new.object]).scratch(application)).objects.count {
        $0.kind == .index
      })
    scan =
      try old.parsed.isWithoutRowid
      ? Schema(objects: [old.object]).scratch(application).fullScan(of: table.name) : "NOT INDEXED"
  }

  /// The filled columns.
  ///
  /// - Parameters:
  ///   - added: columns that the old table does not have.
  ///   - form: the new form of a column of the old table; nil when nothing fills it any longer. A
  ///     generated column that stays generated fills itself.
  func columns(adding added: [Column] = [], form: (String) -> Column?) -> [Column] {
    old.parsed.columns.compactMap { column in
      let filled = form(column.name.text)
      return column.generated != nil && filled?.isKept ?? false ? nil : filled
    } + added
  }

  /// - Parameters:
  ///   - questions: to the rows, before anything is written.
  ///   - columns: the filled columns. Where no column is another name of the rowid, it is copied, too.
  ///   - filter: the rows of the old table that stay; nil is all.
  ///   - beforeInstalling: statements that run once the rows are copied.
  ///   - checks: whether a row that breaks a CHECK fails. SQLite's DROP COLUMN does not ask.
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
    let steps =
      [.rewriting(true)] + storageGuards(columns).map(Step.question) + [create]
      + ignoringChecks("ON") + [.copy(copy)] + ignoringChecks("OFF") + statements(beforeInstalling)
      + ending + [.rewriting(false)]
    // Which rows a filter keeps is not proven: asked twice it may give two answers (`random()`), and what it
    // leaves out is what the manifest wants to lose.
    let proofs =
      filter != nil
      ? []
      : [
        RowProof(
          of: old, as: new, keeping: columns.filter(\.isKept).map { Quoting.unquoted($0.name) },
          keepsRowids: keepsRowids(columns))
      ]
    return OperationPlan(
      operation: operation, strategy: .rewrite, because: reason,
      steps: questions.map(Step.question) + steps + after,
      expectations: [TableExpectation(table: old.name, sql: new.object.sql ?? "")], proofs: proofs)
  }

  private func statements(_ sql: [String]) -> [Step] { sql.map { .statement($0, nil) } }

  private var main: String { "main.\(Quoting.quoted(old.name))" }
  private var temporary: String { "main.\(Quoting.quoted(temporaryName))" }

  /// The final text with the temporary name in place of the table's own, which may also qualify columns:
  /// `CHECK (t.a > 0)`.
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

  /// The rowid as a column; nil where a column of the new table is another name of it, or one of the tables
  /// has none that can be named.
  var rowid: Column? {
    guard !old.parsed.isWithoutRowid, !new.parsed.isWithoutRowid, !new.hasRowidAlias,
      let name = new.rowidName, let value = old.rowidName
    else { return nil }
    return Column(name: name, value: value, isKept: false)
  }

  // MARK: Ending 1: the two tables exchange their b-trees

  /// Whether the indexes of the old table find all rows in the new one, by their rowids.
  func exchanges(_ columns: [Column], _ filter: String? = nil) -> Bool {
    mayExchange && filter == nil && automaticIndexes.old == automaticIndexes.new
      && keepsRowids(columns)
  }

  private func keepsRowids(_ columns: [Column]) -> Bool {
    guard !old.parsed.isWithoutRowid, !new.parsed.isWithoutRowid else { return false }
    guard new.hasRowidAlias, let alias = new.identity.first.map({ Quoting.quoted($0).identifier })
    else { return rowid != nil }
    return old.hasRowidAlias
      && columns.contains { $0.name.identifier == alias && $0.value.identifier == alias }
      && old.identity == new.identity
  }

  /// Indexes, triggers, the AUTOINCREMENT counter and the statistics belong to the name and the rowids,
  /// and stay. An index that reads a column with another declaration or other values is rebuilt.
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
      change: .exchange(with: temporaryName, automaticIndexes: automaticIndexes.new))
    let after =
      sequence + ["DROP TABLE \(temporary)"]
      + stale.map { "REINDEX main.\(Quoting.quoted($0.name))" }
    return [.edit(edit)] + statements(after)
  }

  /// The columns of either table but those that are declared alike in both, as far as an index can tell, and
  /// whose values are copied as they are.
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

  /// Type, collation and expression as SQLite reads them.
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
    return tokens.identifiers(in: index.table.range.upperBound..<tokens.bytes.count)
      .contains { columns.contains($0.text) }
  }

  // MARK: Ending 2: the new table takes the name of the old one

  /// The order of SQLite's documented procedure (ALTER TABLE, section 7): drop, rename, then create the
  /// indexes and triggers from their stored text. The rename is an edit of `sqlite_schema`, because ALTER
  /// TABLE RENAME would quote the name and fails on a CHECK that qualifies its columns.
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
      change: .takeName(from: temporaryName, automaticIndexes: automaticIndexes.new))
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

  // MARK: Values that the copy would convert

  /// ADD COLUMN with DEFAULT TRUE gives the rows a number, regardless of the type: copied, it would be
  /// converted. All other values that a column's type would not store `quick_check` has found before.
  private func storageGuards(_ columns: [Column]) -> [Question] {
    guard !old.parsed.isStrict else { return [] }
    let kept = Set(columns.filter(\.isKept).map(\.name.exact))
    return old.parsed.columns.compactMap { column in
      let name = Quoting.quoted(column.name.text)
      guard kept.contains(name.exact), old.affinity(of: column) == .text,
        let value = column.defaultExpression.map({ old.tokens.text($0.range).identifier }),
        ["true", "false"].contains(value)
      else { return nil }
      return Question(
        condition: "EXISTS (SELECT 1 FROM \(main) \(scan) "
          + "WHERE typeof(\(name)) IN ('integer', 'real'))",
        message: "`\(old.name).\(column.name.text)` contains numbers, because it was added with "
          + "DEFAULT \(value.text.uppercased()), and rewriting the table would store them as text. "
          + "An UPDATE that sets the column to itself converts them")
    }
  }
}

extension ParsedTable {
  /// The text as SQLite stores it: `CREATE TABLE `, and then all from the name to the last token. ALTER TABLE
  /// and VACUUM rely on that form, and the name must be the one in the row of `sqlite_schema`.
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
