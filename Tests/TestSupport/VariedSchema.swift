import SchemaSQLText

/// One of two versions of a random schema, with rows that fit both. It uses all features of SQLite, with
/// unusual names and comments, but without contradictory constraints.
///
/// All tables have the same number of rows, and their keys have the same values, so that any key can refer to
/// any other key.
package struct VariedSchema {
  package let tables: [VariedTable]
  let choices: VersionedChoices

  /// Creates the earlier version.
  package init(seed: UInt64) {
    self.init(seed: seed, after: nil)
  }

  /// Creates the later version.
  package init(after earlier: VariedSchema) {
    self.init(seed: earlier.choices.seed, after: earlier)
  }

  private init(seed: UInt64, after earlier: VariedSchema?) {
    var generator = SeededGenerator(seed: seed)
    let choices = VersionedChoices(
      seed: seed, isLater: earlier != nil, changes: generator.pick([3, 10, 30, 60]))
    let rows = generator.pick([0, 1, 5, 9])
    let count = generator.pick([1, 2, 3, 4])
    let names = choices.shuffled(
      "tables",
      [
        "notes", "new_t", "a b", "order", "quo\"te", "it's", "semi;colon", "Grüße", "br[ack",
        "temp", "schema copy", "t_old", "INDEX", "1st", "back`tick", "日本",
      ])
    let present = (0..<count).filter { choices.chance("table \($0)", 85) }
    // A new table has no rows yet, so rows of other tables must not refer to it.
    let old = present.filter { index in
      earlier.map { $0.tables.contains { $0.index == index } } ?? true
    }
    tables = present.map { index in
      VariedTable(
        names[index], index, rows: rows, after: earlier?.tables.first { $0.index == index },
        choices,
        parents: (old.contains(index) ? old : [index]).map { (names[$0], $0) })
    }
    self.choices = choices
  }

  // MARK: Statements of the schema

  /// The statements that create the tables, without the columns that are added after the rows.
  package var creations: [String] { tables.map { $0.creation(isWhole: false) } }

  package var rows: [String] { tables.flatMap(\.insertions) }

  package var additions: [String] { tables.flatMap(\.additions) }

  /// The statements for the whole schema, as if it had never been altered.
  package var whole: [String] { tables.map { $0.creation(isWhole: true) } + others }

  /// The statements for indexes, views, triggers and virtual tables.
  package var others: [String] {
    tables.flatMap(indexes) + tables.flatMap(searches) + places + tables.flatMap(views) + shifting
      + tables.flatMap(triggers)
  }

  /// The statements that insert rows into the virtual tables.
  package var searchRows: [String] {
    tables.flatMap { table -> [String] in
      guard let kind = searchKind(table) else { return [] }
      let name = Quoting.quoted(table.searchName)
      return kind == .external
        ? ["INSERT INTO \(name) (\(name)) VALUES ('rebuild')"]
        : ["INSERT INTO \(name) (rowid, body) VALUES (3, 'some words'), (9, 'more')"]
    } + (places.isEmpty ? [] : ["INSERT INTO places VALUES (4, 1, 2)"])
  }

  private func indexes(of table: VariedTable) -> [String] {
    (0..<3).compactMap { number in
      let key = "\(table.key) index \(number)"
      guard choices.chance(key, 50) else { return nil }
      func column(_ part: String) -> String {
        Quoting.quoted(choices.pick(key + part, table.columns).name)
      }
      let isUnique = choices.chance(key + " unique", 30)
      let first = isUnique ? table.anchor : column(" first")
      let terms =
        [
          first
            + choices.pick(
              key + " term", ["", "", " DESC", " COLLATE NOCASE", " COLLATE RTRIM DESC"])
        ]
        + choices.pick(
          key + " more",
          [
            [], [], [column(" second")], ["coalesce(\(column(" second")), 'It''s') DESC"],
            ["(\(column(" second")) || 'x') COLLATE NOCASE", column(" third")],
          ])
      let condition = choices.pick(
        key + " where",
        [
          "", "", " WHERE \(column(" condition")) IS NOT NULL",
          " WHERE \(column(" condition")) <> 'X' AND \(table.anchor) > 0",
        ])
      let name = Quoting.identifier(
        "\(choices.pick(table.key + " index", ["i", "by ", "ix\""]))\(table.index)\(number)")
      return
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(table.quoted) (\(terms.joined(separator: ", ")))\(condition)"
    }
  }

  private func views(of table: VariedTable) -> [String] {
    let key = "\(table.key) view"
    guard choices.chance(key, 45) else { return [] }
    let name = "v\(table.index)"
    let column = Quoting.quoted(choices.pick(key + " column", table.columns).name)
    let first = choices.pick(
      key + " form",
      [
        "CREATE VIEW \(name) AS SELECT \(table.anchor) AS \"key\", \(column) AS out FROM \(table.quoted)",
        "CREATE VIEW \(name)(\"key\", out) AS SELECT t.\(table.anchor), \(column) FROM \(table.quoted) AS t -- all\nWHERE 1",
        "CREATE VIEW \(name) AS WITH c AS (SELECT * FROM \(table.quoted)) SELECT \(table.anchor) AS \"key\", count(*) AS out FROM c GROUP BY 1",
        "CREATE VIEW \(name) AS SELECT a.\(table.anchor) AS \"key\", \"lit\" AS out FROM \(table.quoted) a LEFT JOIN \(tables[0].quoted) b ON a.\(table.anchor) = b.\(tables[0].anchor)",
      ])
    guard choices.chance(key + " on view", 40) else { return [first] }
    let second =
      "CREATE VIEW \"view on \(name)\" AS SELECT out, \"key\" FROM \(name) WHERE \"key\" > 1"
    guard choices.chance(key + " instead", 50) else { return [first, second] }
    return [
      first, second,
      "CREATE TRIGGER \"instead \(name)\" INSTEAD OF INSERT ON \(name) BEGIN UPDATE \(table.quoted) "
        + "SET \(table.anchor) = \(table.anchor) WHERE \(table.anchor) = new.\"key\"; END",
    ]
  }

  private func triggers(of table: VariedTable) -> [String] {
    (0..<2).compactMap { number in
      let key = "\(table.key) trigger \(number)"
      guard choices.chance(key, 45) else { return nil }
      let column = Quoting.quoted(choices.pick(key + " column", table.columns).name)
      let other = choices.pick(key + " other", tables)
      let event = choices.pick(
        key + " event", ["INSERT", "UPDATE", "UPDATE OF \(column)", "DELETE"])
      let row = event == "DELETE" ? "old" : "new"
      let condition = choices.pick(
        key + " when",
        ["", " WHEN \(row).\(column) IS NOT NULL", " WHEN EXISTS (SELECT 1 FROM \(other.quoted))"])
      let bodies = [
        "SELECT RAISE(ABORT, 'No; never') WHERE \(row).\(table.anchor) < 0;",
        "UPDATE \(other.quoted) SET \(other.anchor) = \(other.anchor) WHERE \(other.anchor) = \(row).\(table.anchor);",
        "DELETE FROM \(other.quoted) WHERE \(other.anchor) = CASE WHEN \(row).\(column) = 'END;' THEN 1 END;",
        "INSERT OR IGNORE INTO \(other.quoted) (\(other.anchor)) SELECT \(other.anchor) FROM \(other.quoted) WHERE 0;",
      ]
      let body =
        choices.pick(key + " body", bodies)
        + choices.pick(key + " more", ["", "", " /* ; */ SELECT 1;"])
      let timing = choices.pick(key + " timing", ["", "BEFORE ", "AFTER "])
      let name = Quoting.identifier(
        "\(choices.pick(table.key + " trigger", ["g", "on change ", "END"]))\(table.index)\(number)"
      )
      return
        "CREATE TRIGGER \(name) \(timing)\(event) ON \(table.quoted)\(condition) BEGIN \(body) END"
    }
  }

  private enum SearchKind { case own, external }

  private func searchKind(_ table: VariedTable) -> SearchKind? {
    guard choices.chance("\(table.key) search", 20) else { return nil }
    return table.isAlias && table.texts.first != nil
      && choices.chance("\(table.key) external", 60) ? .external : .own
  }

  private func searches(of table: VariedTable) -> [String] {
    guard let kind = searchKind(table) else { return [] }
    let name = Quoting.quoted(table.searchName)
    let options = choices.pick(
      "\(table.key) tokenize", ["", ", prefix='2 3'", ", tokenize = 'porter ascii'"])
    guard kind == .external, let column = table.texts.first else {
      return ["CREATE VIRTUAL TABLE \(name) USING fts5(body, extra UNINDEXED\(options))"]
    }
    return [
      "CREATE VIRTUAL TABLE \(name) USING fts5(\(Quoting.quoted(column.name)), content=\(table.quoted), content_rowid=\(table.anchor)\(options))"
    ]
  }

  private var places: [String] {
    guard choices.chance("places", 15) else { return [] }
    return [
      "CREATE VIRTUAL TABLE places USING \(choices.pick("places kind", ["rtree", "rtree_i32"]))(id, x0, x1)"
    ]
  }

  /// An object whose kind may differ between the versions, under the same name.
  private var shifting: [String] {
    guard choices.chance("shifting", 20) else { return [] }
    return choices.pick(
      "shifting kind",
      [
        ["CREATE TABLE shifting (a, b DEFAULT 'x')"], ["CREATE VIEW shifting AS SELECT 1 AS a"],
        ["CREATE VIRTUAL TABLE shifting USING fts5(a)"],
        tables.first.map { ["CREATE INDEX shifting ON \($0.quoted) (\($0.anchor))"] } ?? [],
      ])
  }
}
