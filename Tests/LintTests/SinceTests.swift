import SchemaLint
import SchemaTimeline
import Testing

@Suite("Tables older than the syncing")
struct SinceTests {
  /// Tables for a single device, created before anything synced.
  private static let notes = sql(
    """
    CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid())) STRICT;
    CREATE TABLE notes (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '', slug TEXT UNIQUE, recordID TEXT
    ) STRICT;
    CREATE UNIQUE INDEX byTitle ON notes (title);
    CREATE TRIGGER trimmed AFTER INSERT ON notes BEGIN
      UPDATE notes SET title = trim(title) WHERE id = NEW.id;
    END;
    """)
  private static let next = sql("ALTER TABLE lists ADD COLUMN name TEXT")

  private func found(_ steps: [String], _ sync: String) throws -> [String] {
    try lint([Self.notes] + steps, configuration: "sync: { engine: sqlite-data, \(sync) }")
      .findings.filter { $0.severity != .note }.map { "\($0.migration) \($0.rule)" }
  }

  private static let standing = [
    "0001_step synced-primary-key", "0001_step not-null-without-conflict-default",
    "0001_step cloudkit-name", "0001_step synced-unique", "0001_step synced-unique",
    "0001_step unguarded-trigger-on-synced-table",
  ].sorted()

  @Test(
    "an unsuitable property that still exists is found as if the table had always synced",
    arguments: ["since: 0002_step", "tables: [notes]", "since: 0002_step, tables: [Notes]"])
  func standing(_ sync: String) throws {
    #expect(try found([Self.next], sync).sorted() == Self.standing)
  }

  @Test(
    "a table that does not sync is not checked",
    arguments: ["local_tables: [notes]", "tables: [lists]"])
  func local(_ sync: String) throws {
    #expect(try found([Self.next], "since: 0002_step, \(sync)") == [])
  }

  @Test("a property that a later migration fixes or removes is not found")
  func fixed() throws {
    let fixing = """
      operations:
        - drop_trigger: { name: trimmed }
        - drop_index: { name: byTitle }
        - rebuild_table:
            table: notes
            columns:
              - { name: id, type: INTEGER, primary_key: true }
              - name: title
                type: TEXT
                not_null: { on_conflict: replace }
                default: ''
              - { name: slug, type: TEXT }
            strict: true
            copy: { id: id, title: title, slug: slug }
      """
    let left = try found([fixing], "since: 0002_step")
    // The key is still the same.
    #expect(left.filter { $0.hasPrefix("0001") } == ["0001_step synced-primary-key"])
    #expect(
      try found([sql("DROP TABLE notes")], "since: '2'").filter { $0.hasPrefix("0001") } == [])
  }

  @Test("a finding that a later migration has, too, is reported once")
  func once() throws {
    let rebuilt = sql("ALTER TABLE notes ADD COLUMN pinned INTEGER")
    let all = try found([Self.next, rebuilt], "since: 0002_step")
    #expect(all.sorted() == Self.standing)
  }

  @Test("earlier changes of a table are not checked")
  func changes() throws {
    let dropped = sql(
      "DROP TRIGGER trimmed; DROP INDEX byTitle; ALTER TABLE notes DROP COLUMN recordID;")
    let report = try lint(
      [Self.notes, dropped, Self.next],
      configuration: "sync: { engine: sqlite-data, since: 0003_step }")
    let errors = report.findings.filter { $0.severity == .error }
    #expect(
      errors.map { "\($0.migration) \($0.rule)" }.sorted() == [
        "0001_step not-null-without-conflict-default", "0001_step synced-primary-key",
        "0001_step synced-unique",
      ])
  }

  @Test("the message gives the reason, and errors in frozen manifests a remedy")
  func words() throws {
    let report = try lint(
      [Self.notes, Self.next], configuration: "sync: { engine: sqlite-data, since: 0002_step }")
    let key = try #require(report.findings.first { $0.rule == "synced-primary-key" })
    #expect(
      key.message.hasSuffix(
        "(older than `sync.since`, and it syncs now: a new migration must repair it)"))
    #expect(key.severity == .error)
  }
}
