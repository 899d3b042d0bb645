import Foundation

/// Many databases of one application, each 100 kB, with one pending migration.
struct Fleets {
  let count: Int
  let folder: URL
  let list: URL

  static let sql = """
    ALTER TABLE items ADD COLUMN done INTEGER NOT NULL DEFAULT 0; \
    CREATE INDEX items_done ON items (done)
    """

  /// Every database has the same content, so one answers for all; the number of databases is asked by the
  /// exit code.
  static let question = "SELECT count(*), sum(done) FROM items INDEXED BY items_done WHERE done = 0"

  init(_ count: Int, in workplace: URL, _ schemactl: String) throws {
    self.count = count
    folder = workplace.appendingPathComponent("fleet-\(count)")
    list = folder.appendingPathComponent("list")
    // Another contest may have made it: its template would get the pending migration, too.
    guard !FileManager.default.fileExists(atPath: list.path) else { return }
    try create(folder)
    try create(folder.appendingPathComponent("migrations"))
    try write(
      "migrations/0001_items.yaml",
      """
      operations:
        - create_table:
            name: items
            columns:
              - { name: id, type: INTEGER, primary_key: true }
              - { name: name, type: TEXT, not_null: true }
              - { name: body, type: TEXT }
        - create_index: { name: items_name, table: items, columns: [name] }

      """)
    let template = folder.appendingPathComponent("template.sqlite")
    _ = try output([schemactl, "migrate", "--database", template.path], in: folder)
    _ = try output(
      [
        "sqlite3", template.path,
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 285)
        INSERT INTO items (name, body) SELECT 'item ' || i, hex(zeroblob(120)) FROM n
        """,
      ], in: folder)
    try write(
      "migrations/0002_done.yaml",
      """
      operations:
        - add_column:
            { table: items, column: { name: done, type: INTEGER, not_null: true, default: 0 } }
        - create_index: { name: items_done, table: items, columns: [done] }

      """)
    try write("list", (0..<count).map { "\(name($0))\n" }.joined())
  }

  private func name(_ number: Int) -> String { "tenants/\(number).sqlite" }

  private func write(_ name: String, _ text: String) throws {
    try text.write(
      to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
  }

  /// Puts all databases back to before the migration. What the copies still have to write to the disk must not
  /// be part of what is measured.
  func prepare() throws {
    let tenants = folder.appendingPathComponent("tenants")
    try? FileManager.default.removeItem(at: tenants)
    try create(tenants)
    let bytes = try Data(contentsOf: folder.appendingPathComponent("template.sqlite"))
    for number in 0..<count {
      try bytes.write(to: folder.appendingPathComponent(name(number)))
    }
    sync()
  }

  func database() -> URL { folder.appendingPathComponent(name(count - 1)) }
}

extension Contests {
  /// - Parameter isKilled: the run is killed when half of the databases are done, and run again.
  func fleet(_ count: Int, isKilled: Bool = false) throws -> Contest {
    let fleet = try Fleets(count, in: workplace, schemactl)
    let ours = "'\(schemactl)' fleet migrate --databases-from list --jobs 2 --format jsonl"
    let killed = """
      \(ours) > report & while [ "$(wc -l < report)" -lt \(count / 2) ]; do sleep 0.05; done; \
      kill -KILL $!; wait $!; \(ours) > report
      """
    return Contest(
      title: "\(count.formatted()) databases of 100 kB, one pending migration"
        + (isKilled ? ", killed in the middle and run again" : "")
        + ", against `xargs -P2 sqlite3`",
      target: isKilled ? nil : 1.2,
      contestants: [
        Contestant(
          name: "sqlite3",
          command: Command(
            words: ["xargs", "-a", "list", "-P2", "-I{}", "sqlite3", "{}", Fleets.sql],
            folder: fleet.folder),
          prepare: fleet.prepare),
        Contestant(
          name: "schemactl",
          command: Command(
            words: ["sh", "-c", isKilled ? killed : "exec \(ours)"], folder: fleet.folder),
          prepare: fleet.prepare),
      ],
      mostRounds: 2,
      question: (Fleets.question, { _ in fleet.database() }))
  }
}
