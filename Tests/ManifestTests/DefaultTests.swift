import SchemaManifest
import SchemaSQLite
import Testing

@Suite("Defaults that read as expressions")
struct DefaultTests {
  static let expressions = [
    "uuid()", "UUID ()", "datetime('now')", "datetime ('now')", "strftime('%s', 'now')",
    "lower(hex(randomblob(16)))", "(1 + 2)", "-(1)", "CURRENT_DATE", "current_time",
    "Current_Timestamp", "x'00ff'", "-X'00FF'", "(none)", "CAST(1 AS TEXT)",
  ]

  @Test(
    "for every ambiguous default, the error suggests an expression and a text",
    arguments: [
      "create_table: { name: t, columns: [{ name: a, default: HERE }] }",
      "rebuild_table: { table: t, columns: [{ name: a, default: HERE }] }",
      "add_column: { table: t, column: { name: a, default: HERE } }",
      "move_column: { table: t, from: b, to: { name: a, default: HERE }, using: b }",
      "alter_column: { table: t, column: a, default: HERE }",
    ])
  func refused(operation: String) throws {
    for text in Self.expressions {
      // In a flow list or mapping, a comma would end the plain text.
      guard !text.contains(",") else { continue }
      let problem = try #require(problems(manifest(operation.replacing("HERE", with: text))).first)
      #expect(problem.contains("`default`: `\(text)` would be stored as a text"))
      for offer in problem.split(separator: "`").filter({
        $0.hasPrefix("{ sql") || $0.first == "\""
      }) {
        #expect(problems(manifest(operation.replacing("HERE", with: offer))) == [], "\(offer)")
      }
    }
  }

  @Test("also in block style and with commas")
  func block() {
    let yaml = """
      operations:
        - add_column:
            table: t
            column:
              name: a
              default: strftime('%s', 'now')

      """
    #expect(
      problems(yaml) == [
        "m.yaml:6:18: error: `default`: `strftime('%s', 'now')` would be stored as a text: write "
          + "`{ sql: \"strftime('%s', 'now')\" }` for the expression, or "
          + "`\"strftime('%s', 'now')\"` for the text"
      ])
  }

  @Test(
    "quoted values, and values that only resemble an expression, are texts",
    arguments: [
      "'uuid()'", "\"datetime('now')\"", "'CURRENT_TIMESTAMP'", "\"(1 + 2)\"", "new (2)",
      "Größe (neu)", "see f(x)", "f(x", "a)b(c", "it's", "x'0'", "CURRENT_TIMESTAMPS",
    ])
  func accepted(text: String) throws {
    let yaml = "  - add_column: { table: t, column: { name: a, default: \(text) } }\n"
    guard case .addColumn(_, let column)? = try operation(yaml), case .text? = column.default?.value
    else {
      Issue.record("\(text) is not a text")
      return
    }
  }

  @Test("the suggested notation of a text is decoded as that text", arguments: expressions)
  func written(text: String) throws {
    let yaml = "  - add_column: { table: t, column: { name: a, default: \(yamlScalar(text)) } }\n"
    guard case .addColumn(_, let column)? = try operation(yaml) else {
      Issue.record("\(yaml) is refused")
      return
    }
    #expect(column.default?.value == .text(text))
  }
}
