import Foundation
import SchemaSQLite
import SchemaTestSupport

/// A database similar to that of an app, which contains every kind of page that its layout allows. Three
/// migrations have run, and three are pending.
struct Specimen {
  struct Layout: CustomStringConvertible {
    var pageSize = 512
    var encoding = "UTF-8"
    var autoVacuum = 0
    var leftover = Leftover.nothing

    var description: String {
      "\(pageSize) bytes a page, \(encoding), auto_vacuum \(autoVacuum), \(leftover.rawValue)"
    }
  }

  /// Files that a killed process left next to the database.
  enum Leftover: String {
    case nothing = "closed"
    case wal = "WAL with content"
    case journal = "hot journal"
  }

  static let layouts: [Layout] =
    [512, 1024, 4096, 65536].map { Layout(pageSize: $0) } + [
      Layout(encoding: "UTF-16le"), Layout(pageSize: 1024, encoding: "UTF-16be"),
      Layout(autoVacuum: 1), Layout(pageSize: 1024, autoVacuum: 2),
      Layout(leftover: .wal), Layout(pageSize: 4096, leftover: .wal),
      Layout(leftover: .journal), Layout(pageSize: 1024, autoVacuum: 1, leftover: .journal),
    ]

  let layout: Layout
  /// The content of the files, by the suffix of the name: empty, `-wal` or `-journal`.
  let files: [String: [UInt8]]

  /// Returns a sandbox with the history of the database.
  static func history() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_notes",
      """
      CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
        updatedAt TEXT
      );
      CREATE INDEX noteBody ON notes (body);
      CREATE TABLE tags (name TEXT PRIMARY KEY, colour TEXT) WITHOUT ROWID;
      CREATE TABLE noteTags (
        noteID INTEGER REFERENCES notes ON DELETE CASCADE, tag TEXT REFERENCES tags
      );
      """)
    try sandbox.addSQL(
      "0002_files",
      """
      CREATE TABLE files (id INTEGER PRIMARY KEY, data BLOB, kind TEXT);
      CREATE INDEX bigFiles ON files (kind) WHERE kind <> 'small';
      CREATE TRIGGER touch AFTER UPDATE OF body ON notes BEGIN
        UPDATE notes SET updatedAt = 'now' WHERE id = new.id;
      END;
      CREATE VIEW bodies AS SELECT body FROM notes;
      """)
    try sandbox.addSQL("0003_search", "CREATE VIRTUAL TABLE search USING fts5(words);")
    try sandbox.add(
      "0004_state",
      """
      operations:
        - move_column:
            table: notes
            from: done
            to: { name: state, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 0, 1: 1 }
      """)
    try sandbox.add(
      "0005_kind",
      """
      operations:
        - drop_index: { name: bigFiles }
        - move_column:
            table: files
            from: kind
            to: { name: sort, type: TEXT, check: "sort <> ''" }
            using: "upper(kind)"
      """)
    try sandbox.addSQL(
      "0006_colours",
      """
      UPDATE tags SET colour = upper(colour);
      ALTER TABLE noteTags ADD COLUMN at TEXT DEFAULT 'then';
      CREATE INDEX tagged ON noteTags (tag);
      CREATE TABLE extra AS SELECT name, zeroblob(300) AS more FROM tags;
      """)
    return sandbox
  }

  static func make(_ layout: Layout, _ history: Sandbox) throws -> Specimen {
    for file in try FileManager.default.contentsOfDirectory(atPath: history.folder)
    where file.hasPrefix("live.sqlite") {
      try FileManager.default.removeItem(atPath: "\(history.folder)/\(file)")
    }
    let connection = try history.open()
    try connection.execute(
      """
      PRAGMA page_size = \(layout.pageSize); PRAGMA encoding = '\(layout.encoding)';
      PRAGMA auto_vacuum = \(layout.autoVacuum); CREATE TABLE made (a); DROP TABLE made;
      """)
    try history.migrate(to: "0003")
    try connection.execute(rows)
    switch layout.leftover {
    case .nothing: break
    case .wal:
      try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try connection.execute(changes)
    case .journal:
      // SQLite writes pages that do not fit into the cache before the transaction ends.
      try connection.execute("PRAGMA cache_size = 2; BEGIN IMMEDIATE")
      try connection.execute(changes)
    }
    var files: [String: [UInt8]] = [:]
    for suffix in ["", "-wal", "-journal"] {
      files[suffix] = FileManager.default.contents(atPath: history.database + suffix).map(
        Array.init)
    }
    return Specimen(layout: layout, files: files)
  }

  private static let rows = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO notes (body, done, updatedAt)
      SELECT 'note ' || i || hex(zeroblob(i % 40)), i % 2, '2020-01-01' FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO tags SELECT 'tag ' || i || hex(zeroblob(i % 30)), 'red' FROM n;
    INSERT INTO noteTags SELECT id, (SELECT name FROM tags ORDER BY name LIMIT 1) FROM notes;
    INSERT INTO files SELECT id, randomblob(id * 150), iif(id % 3, 'small', 'picture')
      FROM notes LIMIT 30;
    INSERT INTO search (rowid, words) SELECT id, body FROM notes LIMIT 40;
    INSERT INTO files SELECT 1000 + id, zeroblob(1500), 'waste' FROM notes;
    DELETE FROM files WHERE id > 1000;
    """

  private static let changes = """
    UPDATE notes SET body = 'changed ' || body WHERE id % 3 = 0;
    UPDATE files SET data = zeroblob(length(data) + 100) WHERE id % 2;
    INSERT INTO tags SELECT 'late ' || id, 'blue' FROM notes LIMIT 50;
    """

  /// Writes the files with names that begin with `path`, and replaces existing files.
  func write(to path: String) throws {
    for suffix in ["", "-wal", "-journal", "-shm"] {
      let file = path + suffix
      guard let bytes = files[suffix] else {
        unlink(file)
        continue
      }
      try Data(bytes).write(to: URL(fileURLWithPath: file))
    }
  }

  func replacing(_ suffix: String, with bytes: [UInt8]) -> Specimen {
    var files = files
    files[suffix] = bytes
    return Specimen(layout: layout, files: files)
  }
}
