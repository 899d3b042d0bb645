import Foundation
import SchemaDiagram
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Diagrams")
struct DiagramTests {
  @Test(
    "Mermaid contains every table, column and foreign key that SQLite reports",
    arguments: seeds(8, of: 60))
  func complete(seed: UInt64) throws {
    let old = VariedSchema(seed: seed)
    for version in [old, VariedSchema(after: old)] {
      try expectComplete(version.whole)
    }
  }

  @Test(
    "names with a special meaning in Mermaid, HTML or Graphviz are escaped",
    arguments: [
      "CREATE TABLE style (pk INTEGER PRIMARY KEY, \"FK\" TEXT, uk REFERENCES style)",
      "CREATE TABLE \"direction LR\" (\"a b\" \"double precision\", \"c%d\" DECIMAL(10,2)); CREATE TABLE one (\"direction TB\" REFERENCES \"direction LR\")",
      "CREATE TABLE \"<script>alert(1)</script>\" (\"]]>\" TEXT, \"a\"\"b\" TEXT, \"it's\" TEXT, \"line\nend\" TEXT)",
      "CREATE TABLE \"x\u{202E}y\" (a, \"\u{200B}\" INT, \"\" TEXT); CREATE TABLE \" \" (b REFERENCES \"x\u{202E}y\")",
      "CREATE TABLE \"%%{init: {}}%%\" (a); CREATE TABLE \"back\\slash\" (\"#quot;\" INT); CREATE TABLE \"#35;\" (a)",
      "CREATE TABLE \"a b\" (a); CREATE TABLE a_b (a); CREATE TABLE \"a-b\" (a); CREATE TABLE \"日本\" (a, \"日\", \"本\")",
      "CREATE TABLE orphan (a REFERENCES missing, FOREIGN KEY (a) REFERENCES \"also missing\" (x))",
    ])
  func hostile(sql: String) throws { try expectComplete([sql]) }

  private func expectComplete(_ statements: [String]) throws {
    let connection = try Connection(path: nil)
    for statement in statements { try connection.execute(statement) }
    let schema = try Schema(of: connection)
    let diagram = Diagram(try schema.outline(Application()))
    let reading = try MermaidReading(diagram.mermaid)
    let tables = try connection.rows(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).compactMap { $0[0].text }
    var keys = 0
    var columns = 0
    var parents: Set<Identifier> = []
    for table in tables {
      let found = try connection.rows(
        "SELECT DISTINCT id, \"table\" FROM pragma_foreign_key_list(?1)", [.text(table)])
      keys += found.count
      parents.formUnion(found.compactMap { $0[1].text?.identifier })
      columns += Int(
        try connection.value(
          "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 1", [.text(table)])?.integer
          ?? 0)
    }
    let missing = parents.subtracting(tables.map(\.identifier))
    #expect(reading.entities.count == tables.count + missing.count)
    #expect(reading.relations.count == keys)
    #expect(reading.entities.values.reduce(0) { $0 + $1.attributes.count } == columns)
    try expectSVG(of: diagram)
  }

  private func expectSVG(of diagram: Diagram) throws {
    guard isGraphvizInstalled else { return }
    let svg = try Graphviz.svg(of: diagram.dot())
    let parser = XMLParser(data: Data(svg.utf8))
    let counter = ElementCounter()
    parser.delegate = counter
    #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? ""): \(svg)")
    #expect(counter.nodes == diagram.tables.count)
    #expect(counter.edges == diagram.references.count)
    #expect(!counter.elements.contains("script"))
  }

  @Test(
    "a layout that does not end, fails or is incomplete is an error",
    arguments: [
      ("exec sleep 100", "it did not end within 1 s"), ("echo broken >&2; exit 1", "broken"),
      ("echo '<svg><g>'", "dot ended with 0"),
    ])
  func brokenGraphviz(_ script: String, _ reason: String) throws {
    let sandbox = try Sandbox()
    let program = sandbox.folder + "/dot"
    try writeProgram(program, script)
    #expect(throws: Subprocess.Problem.failed(reason)) {
      try Graphviz.svg(of: "digraph {}", seconds: 1, program: program)
    }
  }

  @Test("keys and the number of children are drawn correctly")
  func cardinality() throws {
    let mermaid = try diagram(
      """
      CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL, title TEXT UNIQUE);
      CREATE TABLE items (id INTEGER PRIMARY KEY, list TEXT NOT NULL REFERENCES lists ON DELETE CASCADE, other TEXT REFERENCES lists);
      CREATE TABLE covers (list TEXT PRIMARY KEY NOT NULL REFERENCES lists (id), image BLOB);
      """
    ).mermaid
    #expect(
      mermaid == """
        erDiagram
          lists {
            TEXT id PK
            TEXT title UK
          }
          items {
            INTEGER id PK
            TEXT list FK
            TEXT other FK
          }
          covers {
            TEXT list PK, FK
            BLOB image
          }
          lists ||..o{ items : "list"
          lists |o..o{ items : "other"
          lists ||--o| covers : "list"

        """)
  }

  @Test("new, changed and dropped tables, columns and foreign keys are marked")
  func marks() throws {
    let mermaid = try diagram(
      """
      CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE items (id INTEGER PRIMARY KEY, status INTEGER NOT NULL, title TEXT DEFAULT '', list TEXT REFERENCES lists);
      CREATE TABLE tags (id TEXT);
      """,
      since: """
        CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL);
        CREATE TABLE items (id INTEGER PRIMARY KEY, isDone INTEGER, title TEXT, list TEXT, old TEXT REFERENCES labels);
        CREATE TABLE labels (id TEXT PRIMARY KEY);
        """
    ).mermaid
    let reading = try MermaidReading(mermaid)
    #expect(reading.entities["lists"]?.label == "lists")
    #expect(reading.entities["items"]?.label == "items (changed)")
    #expect(reading.entities["tags"]?.label == "tags (new)")
    #expect(reading.entities["labels"]?.label == "labels (dropped)")
    let comments = reading.entities["items"]?.attributes.map { "\($0.name) \($0.comment)" }
    #expect(
      comments == [
        "id ", "isDone dropped", "status new", "title changed", "list ", "old dropped",
      ])
    #expect(reading.relations.map(\.label) == ["list (new)", "old (dropped)"])
  }

  @Test("a partial diagram contains the requested neighbours")
  func neighbours() throws {
    let whole = try diagram(
      "CREATE TABLE a (id); CREATE TABLE b (x REFERENCES a); CREATE TABLE c (x REFERENCES b); CREATE TABLE d (x)"
    )
    #expect(whole.around(["a"], neighbours: 0).tables.map(\.name) == ["a"])
    #expect(whole.around(["a"], neighbours: 1).tables.map(\.name) == ["a", "b"])
    #expect(whole.around(["a"], neighbours: 9).references.count == 2)
    #expect(whole.tables(matching: Glob("[cd]")) == ["c", "d"])
  }

  private func diagram(_ sql: String, since old: String? = nil) throws -> Diagram {
    let schema = try schema(sql)
    let outline = try schema.outline(Application())
    guard let old else { return Diagram(outline) }
    let before = try self.schema(old)
    return Diagram(
      outline, since: try before.outline(Application()),
      compareSchemas(expected: before, actual: schema))
  }

  private func schema(_ sql: String) throws -> Schema {
    let connection = try Connection(path: nil)
    try connection.execute(sql)
    return try Schema(of: connection)
  }
}

let isGraphvizInstalled =
  (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/dot")
  }

private final class ElementCounter: NSObject, XMLParserDelegate {
  var nodes = 0
  var edges = 0
  var elements: Set<String> = []

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    elements.insert(name)
    if attributes["class"] == "node" { nodes += 1 }
    if attributes["class"] == "edge" { edges += 1 }
  }
}
