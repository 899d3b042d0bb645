import Foundation
import SchemaApply
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// A random table with a column to move, rows, an `updatedAt` trigger, a trigger that logs
/// deletions, indexes and cascading children.
private struct GeneratedTable: CustomStringConvertible {
  let seed: UInt64
  var description: String { "seed \(seed)" }

  let table: String
  let from: String
  let to: String
  let create: String
  let others: String
  let columns: [String]
  let toDefinition: String
  let toType: String
  /// The YAML key and the SQL of both values for each pair of the map.
  let map: [(yaml: String, from: String, to: String)]
  let hasRowid: Bool

  private struct Literal {
    let yaml: String
    let sql: String
  }

  private static let values = [
    Literal(yaml: "null", sql: "NULL"), Literal(yaml: "0", sql: "0"), Literal(yaml: "1", sql: "1"),
    Literal(yaml: "'0'", sql: "'0'"), Literal(yaml: "\"it's\"", sql: "'it''s'"),
    Literal(yaml: "1.5", sql: "1.5"), Literal(yaml: "{ blob: 00ff }", sql: "x'00ff'"),
    Literal(yaml: "''", sql: "''"),
    Literal(yaml: "-9223372036854775808", sql: "-9223372036854775808"),
  ]

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }
    table = pick(["t", "re\"minders", "a;b", "[x]", "new\nline", "order", "it's", "schemactl copy"])
    from = pick(["flag", "is\"Done", "f;g", "select", "c0", "übrig"])
    to = pick(["status", "sta\"tus", "s;t", "where", "c1"])
    let types = ["", " INTEGER", " TEXT", " REAL", " BLOB", " NUMERIC"]
    let key = pick(["rowid", "integer", "text", "without", "autoincrement", "composite"])
    var columns = (0..<Int.random(in: 1...4, using: &random)).map { "o\($0)" }
    var definitions: [String: String] = [:]
    for column in columns {
      definitions[column] =
        "\(column)\(pick(types))" + pick(["", " COLLATE NOCASE", " DEFAULT 'x'", " /* , ) */"])
    }
    columns.append("updatedAt")
    definitions["updatedAt"] = "updatedAt TEXT DEFAULT 'old'"
    let fromType = pick(["", "", " INTEGER", " TEXT"])
    definitions[from] = "\(Quoting.quoted(from))\(fromType)"
    columns.insert(from, at: pick([0, columns.count / 2, columns.count]))
    switch key {
    case "integer", "autoincrement":
      definitions["id"] = "id INTEGER PRIMARY KEY" + (key == "integer" ? "" : " AUTOINCREMENT")
      columns.insert("id", at: pick([0, columns.count]))
    case "text":
      definitions["id"] = "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE"
      columns.insert("id", at: 0)
    default:
      definitions["id"] = "id TEXT NOT NULL"
      columns.insert("id", at: pick([0, columns.count]))
    }
    var items = columns.map { definitions[$0] ?? $0 }
    if key == "without" || key == "composite" {
      items.append("PRIMARY KEY (id\(key == "composite" ? ", updatedAt DESC" : ""))")
    }
    if key == "rowid" { items.append("UNIQUE (id) ON CONFLICT REPLACE") }
    hasRowid = key != "without"
    let name = Quoting.quoted(table)
    create =
      "CREATE TABLE \(name) (\n  \(items.joined(separator: ",\n  "))\n)"
      + (hasRowid ? "" : " WITHOUT ROWID")
    let parent = key == "composite" ? "" : " REFERENCES \(name) (id) ON DELETE CASCADE"
    others = """
      CREATE INDEX "i;1" ON \(name) (o0 DESC) WHERE o0 IS NOT NULL;
      CREATE INDEX i2 ON \(name) (updatedAt, id);
      CREATE TABLE log (what);
      CREATE TRIGGER "touch it" AFTER UPDATE ON \(name) BEGIN
        UPDATE \(name) SET updatedAt = 'new' WHERE id = new.id;
      END;
      CREATE TRIGGER gone BEFORE DELETE ON \(name) BEGIN INSERT INTO log VALUES (old.id); END;
      CREATE TRIGGER came AFTER INSERT ON \(name) BEGIN INSERT INTO log VALUES (new.id); END;
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent\(parent));
      CREATE VIEW seen AS SELECT id, updatedAt FROM \(name);
      """
    self.columns = columns
    toType = pick([fromType, fromType, " INTEGER", " TEXT", ""])
    toDefinition =
      "{ name: \(yaml(to))\(toType.isEmpty ? "" : ", type: \(toType.dropFirst())")\(pick(["", "", ", default: 7", ", check: \"length('x') = 1\""])) }"
    var keys: [Literal] = Self.values.shuffled(using: &random)
    keys = Array(keys.prefix(Int.random(in: 1...keys.count, using: &random)))
    map = keys.map { key in
      let target = pick([key, key, pick(Self.values)])
      return ("? \(key.yaml)\n          : \(target.yaml)", key.sql, target.sql)
    }
  }

  func manifest() -> String {
    """
    operations:
      - move_column:
          table: \(yaml(table))
          from: \(yaml(from))
          to: \(toDefinition)
          map:
            \(map.map { $0.yaml.replacing("\n          ", with: "\n        ") }.joined(separator: "\n        "))
    """
  }

  func rows(_ count: Int) -> String {
    var random = SeededGenerator(seed: seed &+ 1)
    let name = Quoting.quoted(table)
    return (0..<count).map { index in
      let flag = map[Int.random(in: 0..<map.count, using: &random)].from
      let other = Self.values[Int.random(in: 0..<Self.values.count, using: &random)].sql
      // Leave gaps between the rowids.
      let id =
        columns.contains("id") && create.contains("INTEGER PRIMARY KEY")
        ? "\(index * 3 + 1)" : "'k\(index)'"
      return """
        INSERT INTO \(name) (id, o0, updatedAt, \(Quoting.quoted(from))) VALUES (\(id), \(other), 'old', \(flag));
        INSERT INTO child (parent) VALUES (\(id));
        """
    }.joined(separator: "\n") + (hasRowid ? "\nDELETE FROM \(name) WHERE id IN (4, 'k1');" : "")
  }
}

private func yaml(_ text: String) -> String {
  "\""
    + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    + "\""
}

@Suite("move_column on generated tables")
struct GeneratedMoveTests {
  @Test(
    "it keeps every value, row, rowid, child, index, trigger and sequence",
    arguments: seeds(6, of: 120))
  func keepsAll(seed: UInt64) throws {
    let generated = GeneratedTable(seed: seed)
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "\(generated.create);\n\(generated.others)")
    try sandbox.add("0002_move", generated.manifest())
    let first = try sandbox.migrate(to: "1")
    try #require(first.failure == nil, "\(generated): \(String(describing: first.failure))")
    try sandbox.run(generated.rows(20))
    // Delete the rows with values that the map does not contain: the affinity of the column may have changed
    // them.
    let name = Quoting.quoted(generated.table)
    let from = Quoting.quoted(generated.from)
    let named = generated.map.map {
      "(typeof(\(from)) = typeof(\($0.from)) AND +\(from) COLLATE BINARY IS \($0.from))"
    }
    .joined(separator: " OR ")
    try sandbox.run(
      "DROP TRIGGER gone; DELETE FROM \(name) WHERE NOT (\(named)); CREATE TRIGGER gone BEFORE DELETE ON \(name) BEGIN INSERT INTO log VALUES (old.id); END"
    )
    try sandbox.run("ANALYZE")

    let expected = try expectation(generated, sandbox)
    let before = try everythingElse(generated, sandbox)
    let report = try sandbox.migrate()
    try #require(
      report.failure == nil,
      "\(generated): \(String(describing: report.failure)) \(generated.create) \(generated.manifest())"
    )
    #expect(try actual(generated, sandbox) == expected, "\(generated)")
    #expect(try everythingElse(generated, sandbox) == before, "\(generated)")
    let names = try sandbox.rows(
      "SELECT name FROM pragma_table_info(\(Quoting.stringLiteral(generated.table)))")
    #expect(
      names.map { $0[0].text }
        == generated.columns.map { $0 == generated.from ? generated.to : $0 }, "\(generated)")
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  /// Returns each row with the mapped value, converted by the affinity of the new column.
  private func expectation(_ generated: GeneratedTable, _ sandbox: Sandbox) throws -> [[Value]] {
    let connection = try sandbox.open()
    try connection.execute("CREATE TEMP TABLE target (v\(generated.toType))")
    let rows = try connection.rows(
      "SELECT \(selected(generated, generated.from)) FROM \(Quoting.quoted(generated.table)) ORDER BY id"
    )
    return try rows.map { row in
      var row = row
      let index = generated.columns.firstIndex(of: generated.from).map { $0 * 2 } ?? 0
      for pair in generated.map {
        let holds = try connection.value(
          "SELECT quote(\(pair.from)) = ?1 AND typeof(\(pair.from)) = ?2",
          [row[index], row[index + 1]])
        guard holds == 1 else { continue }
        try connection.execute("DELETE FROM target; INSERT INTO target VALUES (\(pair.to))")
        let value = try connection.rows("SELECT quote(v), typeof(v) FROM target")[0]
        row.replaceSubrange(index...index + 1, with: value)
        break
      }
      return row
    }
  }

  private func actual(_ generated: GeneratedTable, _ sandbox: Sandbox) throws -> [[Value]] {
    try sandbox.rows(
      "SELECT \(selected(generated, generated.to)) FROM \(Quoting.quoted(generated.table)) ORDER BY id"
    )
  }

  private func selected(_ generated: GeneratedTable, _ moving: String) -> String {
    let terms = generated.columns.map { $0 == generated.from ? moving : $0 }
      .map { "quote(\(Quoting.quoted($0))), typeof(\(Quoting.quoted($0)))" }
    return terms.joined(separator: ", ") + (generated.hasRowid ? ", rowid" : "")
  }

  private func everythingElse(_ generated: GeneratedTable, _ sandbox: Sandbox) throws -> [[Value]] {
    try sandbox.rows("SELECT * FROM child ORDER BY id") + sandbox.rows("SELECT * FROM log")
      + sandbox.rows(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'table' ORDER BY 1, 2")
      + sandbox.rows("SELECT * FROM sqlite_stat1 ORDER BY 1, 2")
      + (generated.create.contains("AUTOINCREMENT")
        ? sandbox.rows("SELECT * FROM sqlite_sequence") : [])
  }
}
