import SQLText
import SchemaModel

/// A table made anew with another text, in the way that renames nothing: copy to a temporary table,
/// drop, create, copy back.
///
/// Views, triggers of other tables and foreign keys that mention the table never see another name;
/// its own triggers and indexes are created again from their stored text.
struct Rebuild {
  private let table: ParsedTable
  private let schema: Schema
  private let statistics: [String]

  private static let copy = "temp.schemactl_copy"
  private static let sequence = "temp.schemactl_sequence"
  /// SQLITE_MAX_COLUMN, unless SQLite was built otherwise (Limits In SQLite, 2).
  static let columnLimit = 2000

  /// - Parameters:
  ///   - schema: where the indexes and triggers are read that are made again.
  ///   - whole: the schema with SQLite's own tables, of which some hold statistics.
  init(_ table: ParsedTable, in schema: Schema, of whole: Schema) {
    self.table = table
    self.schema = schema
    statistics = ["sqlite_stat1", "sqlite_stat4"].filter { whole.table($0) != nil }
  }

  /// A column of the new table, and its value over a row of the old one.
  struct Column {
    let name: String
    let value: String
    /// Whether it is a column of the old table, value and all.
    let isKept: Bool

    init(name: String, value: String, isKept: Bool) {
      self.name = name
      self.value = value
      self.isKept = isKept
    }

    init(kept name: String) {
      self.init(name: Quoting.quoted(name), value: Quoting.quoted(name), isKept: true)
    }
  }

  /// - Parameters:
  ///   - final: the CREATE TABLE that the table shall have.
  ///   - beforeDrop: statements that run once the rows are copied.
  ///   - added: columns that the old table has not.
  ///   - column: what becomes of a column of the old table; nil when it is not filled any longer. One
  ///     that is computed, and stays so, fills itself.
  func steps(
    final: String, beforeDrop: [String] = [], adding added: [Column] = [],
    column: (String) -> Column?
  ) throws(PlanningError) -> [Step] {
    let columns =
      table.parsed.columns.compactMap { old in
        let new = column(old.name.text)
        return old.generated != nil && new?.isKept ?? false ? nil : new
      } + added
    return try steps(
      final: final, beforeDrop: beforeDrop, columns: rowid(beside: columns, in: final) + columns)
  }

  /// - Parameters:
  ///   - columns: what is filled, the rowid too where it is not another column.
  ///   - filter: which rows of the old table are kept; nil is all.
  func steps(
    final: String, beforeDrop: [String] = [], columns: [Column], filter: String? = nil
  ) throws(PlanningError) -> [Step] {
    let new = try ParsedTable(table, as: final)
    let name = "main.\(Quoting.quoted(table.name))"
    // Without types the values stay as they are; with names of our own none can collide.
    let places = columns.indices.map { "c\($0)" }
    let copyOut = RowCopy(
      of: table.name, .out, from: name, to: Self.copy,
      columns: zip(places, columns).map { ($0, $1.value) }, filter: filter,
      key: RowCopy.Key(of: table))
    let copyBack = RowCopy(
      of: table.name, .back, from: Self.copy, to: name,
      columns: zip(columns, places).map { ($0.name, $1) },
      key: RowCopy.Key(rowid: "rowid"))
    let keepsSequence = table.isAutoincrement && new.isAutoincrement
    let replacing = saved(keepsSequence) + beforeDrop + ["DROP TABLE \(name)", qualified(final)]
    let restoring =
      restored(keepsSequence)
      + (schema.objects(.index, on: table.name) + schema.objects(.trigger, on: table.name))
      .compactMap { $0.sql.map(qualified) }
      + ["DROP TABLE \(Self.copy)"]
    func statements(_ sql: [String]) -> [Step] { sql.map { .statement($0, nil) } }
    let creating = ["CREATE TABLE \(Self.copy) (\(places.joined(separator: ", ")))"]
    return [.rewriting(true)] + statements(creating) + [.copy(copyOut)] + statements(replacing) + [
      .copy(copyBack)
    ]
      + storageGuards(columns).map(Step.guarding)
      + statements(restoring) + [.rewriting(false)]
  }

  /// The rowid as a column, where no column is another name of it.
  private func rowid(beside columns: [Column], in final: String) throws(PlanningError) -> [Column] {
    guard !table.parsed.isWithoutRowid, !table.hasRowidAlias else { return [] }
    // A column that is not filled may have its name, too.
    let others = try ParsedTable(table, as: final).parsed.columns.map(\.name.text)
    guard let name = table.rowidName(beside: others) else {
      throw PlanningError(
        .failed, "\(table.name) cannot be rebuilt: its columns hide every name of the rowid")
    }
    guard columns.count < Self.columnLimit else {
      throw PlanningError(
        .failed,
        "\(table.name) cannot be rebuilt: SQLite reads at most \(Self.columnLimit) columns at "
          + "once, and the rowid, which has to stay, would be one more")
    }
    return [Column(name: name, value: name, isKept: false)]
  }

  /// A type that was edited in the schema leaves values that it would not store: copied back they
  /// would be converted. A conversion shows in how many values there are of each storage class.
  private func storageGuards(_ columns: [Column]) -> [Guard] {
    guard !table.parsed.isStrict else { return [] }
    let typed = Set(
      table.parsed.columns.filter { $0.type != nil }.map { Quoting.quoted($0.name.text).exact })
    let kept = columns.enumerated().filter { $0.element.isKept && typed.contains($0.element.name) }
    // SQLite limits how deep an expression may be.
    return stride(from: 0, to: kept.count, by: 50).map { start in
      storageGuard(kept[start..<min(start + 50, kept.count)])
    }
  }

  private func storageGuard(_ kept: ArraySlice<(offset: Int, element: Column)>) -> Guard {
    func counts(_ names: [String]) -> String {
      names.map { name in
        ["integer", "real", "text"].map { "total(typeof(\(name)) = '\($0)')" }
          .joined(separator: " || '/' || ")
      }.joined(separator: " || ';' || ")
    }
    let copied = counts(kept.map { "c\($0.offset)" })
    let stored = counts(kept.map(\.element.name))
    return Guard(
      condition: "(SELECT \(copied) FROM \(Self.copy)) IS NOT "
        + "(SELECT \(stored) FROM main.\(Quoting.quoted(table.name)))",
      message: "\(table.name) holds values that its columns' types would not store (a type was "
        + "changed in the schema by hand, or a column was added with DEFAULT TRUE), and making it "
        + "anew would convert them. An UPDATE that sets each of those columns to itself stores what "
        + "the types say")
  }

  // MARK: What a DROP TABLE takes along

  private func saved(_ keepsSequence: Bool) -> [String] {
    var sql = statistics.map {
      "CREATE TABLE temp.schemactl_\($0) AS SELECT * FROM main.\($0) WHERE tbl = \(tableText)"
    }
    if keepsSequence {
      sql.append(
        "CREATE TABLE \(Self.sequence) AS SELECT seq FROM main.sqlite_sequence "
          + "WHERE name = \(tableText)")
    }
    return sql
  }

  private func restored(_ keepsSequence: Bool) -> [String] {
    var sql = statistics.flatMap { name in
      [
        "INSERT INTO main.\(name) SELECT * FROM temp.schemactl_\(name)",
        "DROP TABLE temp.schemactl_\(name)",
      ]
    }
    if keepsSequence {
      sql += [
        "DELETE FROM main.sqlite_sequence WHERE name = \(tableText)",
        "INSERT INTO main.sqlite_sequence (name, seq) SELECT \(tableText), seq FROM \(Self.sequence)",
        "DROP TABLE \(Self.sequence)",
      ]
    }
    return sql
  }

  private var tableText: String { Quoting.stringLiteral(table.name) }
}
