import SchemaManifest
import SchemaSQLText
import Testing

@Suite("Decoding manifests")
struct ManifestTests {
  @Test("the top-level keys are decoded")
  func topLevel() throws {
    let manifest = try decoded(everything)
    #expect(manifest.file == "m.yaml")
    #expect(manifest.description == "Everything that a manifest can say.")
    #expect(manifest.foreignKeys == .enforced)
    #expect(manifest.requiredSQLite == SQLiteVersion("3.37"))
    #expect(
      manifest.before.map(shown) == [
        "{query: sql(SELECT count(*) FROM a), equals: integer(0), message: 'there are rows'}"
      ])
    #expect(manifest.after.map(shown) == ["{query: sql(SELECT max(x) FROM a), equals: null}"])
    #expect(
      manifest.suppressions.map(shown) == [
        "{rule: 'drop-column', reason: 'Nothing syncs.', until: '2027-02-28'}",
        "{rule: 'drop-table', reason: 'It is empty.'}",
      ])
  }

  @Test("a manifest without operations is valid and has defaults")
  func noOperation() throws {
    let manifest = try decoded("operations: []")
    #expect(manifest.operations.isEmpty)
    #expect(manifest.description == nil)
    #expect(manifest.foreignKeys == .deferred)
    #expect(manifest.requiredSQLite == nil)
    #expect(manifest.suppressions.isEmpty)
  }

  @Test("an operation has only its own suppressions")
  func operationSuppressions() throws {
    let operations = try decoded(everything).operations
    #expect(
      operations.flatMap(\.suppressions).map(shown) == [
        "{rule: 'drop-column', reason: 'It is empty.'}"
      ])
    #expect(operations[5].suppressions.count == 1)
  }

  @Test("an operation has the positions of its name and its keys")
  func positions() throws {
    let yaml = """
      operations:
        - drop_table: { table: a }
        - rename_column:
            table: a
            from: b
            to: c
        - sql: SELECT 1
      """
    let operations = try decoded(yaml).operations
    #expect(operations.map(\.position) == [at(2, 5), at(3, 5), at(7, 5)])
    #expect(operations[0].keys == ["table": at(2, 19)])
    #expect(operations[1].keys == ["table": at(4, 7), "from": at(5, 7), "to": at(6, 7)])
    #expect(operations[2].keys.isEmpty)
  }

  @Test("columns, rows, suppressions and assertions have positions")
  func innerPositions() throws {
    let yaml = """
      before: [{ query: SELECT 1, equals: 1 }]
      operations:
        - create_table:
            name: t
            columns:
              - name: a
              - { name: b }
      lint:
        allow:
          - { rule: r, reason: x }
      """
    let manifest = try decoded(yaml)
    #expect(manifest.before.map(\.position) == [at(1, 10)])
    #expect(manifest.suppressions.map(\.position) == [at(10, 7)])
    guard case .createTable(let table) = manifest.operations[0].kind else {
      return #expect(Bool(false))
    }
    #expect(table.columns.map(\.position) == [at(6, 11), at(7, 11)])
  }

  @Test("the value of an anchor has a position at each alias")
  func aliases() throws {
    let yaml = """
      operations:
        - drop_column: { table: &table 'a table', column: x }
        - drop_table: { table: *table }
      """
    let operations = try decoded(yaml).operations
    #expect(shown(operations[1].kind) == "dropTable(table: 'a table')")
  }

  @Test("a byte order mark and Windows line ends are ignored")
  func windows() throws {
    let unix = try decoded(everything)
    let windows = try decoded("\u{FEFF}" + everything.replacing("\n", with: "\r\n"))
    #expect(windows.operations.map { shown($0.kind) } == unix.operations.map { shown($0.kind) })
    #expect(windows.operations.map(\.position) == unix.operations.map(\.position))
  }

  private func at(_ line: Int, _ column: Int) -> Position { Position(line: line, column: column) }
}
