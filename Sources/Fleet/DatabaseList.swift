import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The names of the databases, in the order in which they were added.
///
/// They are in a temporary table, which SQLite moves to a file when it becomes larger than the page cache.
package final class DatabaseList {
  package let shard: Shard
  /// The number of databases in the whole list.
  package private(set) var listed = 0
  /// The number of databases in the shard.
  package private(set) var count = 0
  /// The digest of the whole list, regardless of its order: the SHA-256 of the names in the order of their
  /// bytes, each followed by a NUL.
  package private(set) var digest = ""
  private let connection: Connection
  private let insertion: Statement
  private let reading: Statement

  package struct Item: Sendable {
    /// The position in the whole list, counted from 1.
    package let number: Int64
    package let name: String
  }

  package init(shard: Shard = .all) throws(Failure) {
    self.shard = shard
    do {
      connection = try Connection(path: nil)
      try connection.execute(
        """
        PRAGMA temp.cache_size = -2000;
        CREATE TEMP TABLE names (
          number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, device INTEGER, inode INTEGER,
          isOwn INTEGER NOT NULL, UNIQUE (device, inode)
        );
        CREATE TEMP TABLE busy (number INTEGER PRIMARY KEY);
        CREATE TEMP TABLE found (name TEXT PRIMARY KEY NOT NULL);
        BEGIN
        """)
      insertion = try connection.prepare(
        "INSERT OR IGNORE INTO names (name, device, inode, isOwn) VALUES (?1, ?2, ?3, ?4)")
      reading = try connection.prepare(
        "SELECT number, name FROM names WHERE number > ?1 AND isOwn ORDER BY number LIMIT 1")
    } catch {
      throw Failure(ofList: error)
    }
  }

  // MARK: Adding names

  /// Adds a database.
  ///
  /// - Throws: if the list already contains the file, under this name or another one.
  func add(_ name: String) throws {
    let identity = FileStatus(name)?.identity
    let file = [identity?.device, identity?.inode].map {
      $0.map { Value.integer(Int64(bitPattern: $0)) } ?? .null
    }
    guard try !insert(name, file) else { return }
    let other = try connection.value(
      "SELECT name FROM names WHERE name = ?1 OR device = ?2 AND inode = ?3", [.text(name)] + file
    )?.text
    let problem =
      other == name
      ? "the list names `\(name)` twice"
      : "`\(other ?? "")` and `\(name)` are two names of one file"
    throw Failure(.invalidInput, "\(problem): list each database once. Nothing changed")
  }

  /// Adds a name.
  ///
  /// - Parameter file: the device and the inode, or two NULLs to compare only names.
  /// - Returns: whether the list did not contain the database before.
  func insert(
    _ name: String, _ file: [Value] = [.null, .null]
  ) throws(DatabaseError) -> Bool {
    let isOwn = shard.contains(name)
    let before = connection.totalChanges
    try insertion.bind([.text(name)] + file + [.integer(isOwn ? 1 : 0)])
    try insertion.run()
    guard connection.totalChanges > before else { return false }
    listed += 1
    if isOwn { count += 1 }
    return true
  }

  /// Adds names in the order of their bytes. `find` may pass them in any order, and more than once.
  func addSorted(_ find: ((String) throws -> Void) throws -> Void) throws -> Int {
    var number = 0
    try connection.execute("DELETE FROM found")
    let note = try connection.prepare("INSERT OR IGNORE INTO found VALUES (?1)")
    try find { name in
      try note.bind([.text(name)])
      try note.run()
    }
    let found = try connection.prepare("SELECT name FROM found ORDER BY name")
    while try found.step() {
      try add(try found.text(0) ?? "")
      number += 1
    }
    return number
  }

  /// Completes the list. Names cannot be added after that.
  package func close() throws(Failure) {
    do {
      try connection.execute("COMMIT; DROP TABLE found")
      digest = ""
      let names = try connection.prepare("SELECT name FROM names ORDER BY name")
      // Each digest contains the previous one: the names may not fit into memory together.
      while try names.step() { digest = SHA256.hex((digest + (try names.text(0) ?? "")).utf8) }
    } catch {
      throw Failure(ofList: error)
    }
  }

  // MARK: Reading

  /// Returns the next database of the shard.
  ///
  /// - Parameter number: the number of the previous database; 0 for the first one.
  func next(after number: Int64) throws(DatabaseError) -> Item? {
    try reading.item(after: number)
  }

  /// Sets a busy database aside for a second try.
  func postpone(_ item: Item) throws(DatabaseError) {
    try connection.execute("INSERT INTO busy VALUES (?1)", [.integer(item.number)])
  }

  /// Returns the first postponed database, and removes it from the postponed ones.
  func takePostponed() throws(DatabaseError) -> Item? {
    let item = try connection.prepare(
      "SELECT number, name FROM names JOIN busy USING (number) WHERE number > ?1 "
        + "ORDER BY number LIMIT 1"
    ).item(after: 0)
    if let item {
      try connection.execute("DELETE FROM busy WHERE number = ?1", [.integer(item.number)])
    }
    return item
  }
}

extension Statement {
  fileprivate func item(after number: Int64) throws(DatabaseError) -> DatabaseList.Item? {
    try bind([.integer(number)])
    defer { reset() }
    guard try step() else { return nil }
    return DatabaseList.Item(number: integer(0), name: try text(1) ?? "")
  }
}

extension Failure {
  /// Converts an error in reading or writing a list.
  init(ofList error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as FileError: self.init(error)
    case let error as DatabaseError:
      self.init(
        error.status == .bug ? .bug : .inputOutput,
        "cannot store the temporary list of the databases: \(error.message). Free some space for "
          + "temporary files (SQLITE_TMPDIR, TMPDIR or /tmp)")
    default: self.init(.bug, "\(error)")
    }
  }
}

/// One of several parts of a list, divided by a hash of the names: `2/4`.
package struct Shard: Sendable, Hashable {
  /// The number of the part, counted from 1.
  package let index: Int
  package let count: Int

  /// The only part of an undivided list.
  package static let all = Shard(index: 1, count: 1)

  init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  /// Parses a shard.
  ///
  /// - Parameter text: `I/N`, with I from 1 to N, and N at most 1,000,000.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]),
      (1...1_000_000).contains(count), (1...count).contains(index)
    else { return nil }
    self.init(index: index, count: count)
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }

  package var isAll: Bool { count == 1 }

  /// Whether a database belongs to the part. The first eight bytes of the SHA-256 of its listed name are a
  /// big-endian number; modulo the number of parts, it must be one less than the index.
  package func contains(_ name: String) -> Bool {
    guard !isAll else { return true }
    let number = UInt64(SHA256.hex(name.utf8).prefix(16), radix: 16) ?? 0
    return number % UInt64(count) == UInt64(index - 1)
  }
}

extension Shard: CustomStringConvertible {
  package var description: String { "\(index)/\(count)" }
}
