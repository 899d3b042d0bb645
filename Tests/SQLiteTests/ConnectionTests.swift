import Foundation
import SchemaSQLite
import Testing

// MARK: Authorizer

@Test("the authorizer receives the actions of a statement, including triggers and views")
func authorizerEvents() throws {
  let connection = try Connection(path: nil)
  try connection.execute(
    """
    CREATE TABLE t(a); CREATE TABLE log(a); CREATE VIEW v AS SELECT a FROM t;
    CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a); END;
    """)
  var events: [AuthorizerEvent] = []
  connection.setAuthorizer { event in
    events.append(event)
    return .allow
  }
  try connection.execute("INSERT INTO t SELECT a FROM v")
  func heard(_ action: AuthorizerAction, _ first: String?, _ trigger: String?) -> Bool {
    events.contains { $0.action == action && $0.first == first && $0.trigger == trigger }
  }
  #expect(heard(.insert, "t", nil))
  #expect(heard(.insert, "log", "x"))
  #expect(heard(.read, "t", "v"))
  #expect(events.allSatisfy { $0.database == "main" || $0.database == nil })
  events = []
  try connection.execute("ALTER TABLE t ADD COLUMN b")
  #expect(events.contains { $0.action == .alterTable && $0.first == "main" && $0.second == "t" })
  events = []
  connection.setAuthorizer(nil)
  try connection.execute("SELECT 1")
  #expect(events.isEmpty)
}

@Test("the authorizer can refuse a statement or ignore an action")
func authorizerDecisions() throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2)")
  connection.setAuthorizer { event in
    switch event.action {
    case .delete: .deny
    case .pragma: .ignore
    case .read where event.second == "b": .ignore
    default: .allow
    }
  }
  let error = try databaseError { try connection.execute("DELETE FROM t") }
  #expect(error.code.rawValue == 23, "SQLITE_AUTH")
  #expect(error.message == "not authorized")
  #expect(try connection.rows("SELECT a, b FROM t") == [[1, .null]])
  try connection.execute("PRAGMA foreign_keys = ON")
  connection.setAuthorizer { _ in .allow }
  #expect(try connection.value("PRAGMA foreign_keys") == 0)
  try connection.execute("DELETE FROM t")
}

@Test("handlers are released when they are replaced and when the connection is closed")
func handlerLifetime() throws {
  let gone = Counter()
  do {
    let connection = try Connection(path: nil)
    for number in 0...1 {
      let first = Witness(gone)
      connection.setAuthorizer { _ in withExtendedLifetime(first) { .allow } }
      let second = Witness(gone)
      connection.setBusyHandler(timeout: 1) { withExtendedLifetime(second) { false } }
      try connection.execute("SELECT 1")
      #expect(gone.value == number * 2)
    }
  }
  #expect(gone.value == 4)
}

@Test("the authorizer may replace itself during a call")
func authorizerReplacesItself() throws {
  let connection = try Connection(path: nil)
  let gone = Counter()
  do {
    let witness = Witness(gone)
    connection.setAuthorizer { [unowned connection] _ in
      connection.setAuthorizer { _ in .deny }
      return withExtendedLifetime(witness) { .allow }
    }
  }
  try? connection.execute("SELECT 1")
  #expect(gone.value == 1)
  #expect(
    try databaseError { try connection.execute("SELECT 1") }.code.rawValue == 23, "SQLITE_AUTH")
}

// MARK: Waiting

/// A database with a table, and a connection that holds its write lock.
private func locked(_ folder: TemporaryFolder, _ place: Place) throws -> Connection {
  let connection = try place.open(in: folder)
  try connection.execute("CREATE TABLE t(a); BEGIN EXCLUSIVE")
  return connection
}

@Test("the busy handler waits for a lock until the timeout", arguments: [Place.file, .wal])
func busyTimeout(place: Place) throws {
  let folder = try TemporaryFolder()
  let holder = try locked(folder, place)
  let connection = try Connection(path: folder.path("a.sqlite"))
  var waits: [Double] = []
  connection.setBusyHandler(timeout: 0.05, onWait: { waits.append($0) })
  // Each lock has the full timeout.
  for _ in 1...2 {
    waits = []
    let error = try databaseError { try connection.execute("BEGIN IMMEDIATE") }
    #expect(error.code == .busy)
    #expect(error.message == "database is locked")
    #expect(waits == waits.sorted())
    #expect(abs((waits.last ?? 0) - 0.05) < 1e-9, "the pauses add up to the timeout")
  }
  try holder.execute("COMMIT")
  try connection.execute("BEGIN IMMEDIATE")
}

@Test(
  "a timeout that is zero, negative or not a number does not wait", arguments: [0, -1, .nan])
func noTimeout(timeout: Double) throws {
  let folder = try TemporaryFolder()
  let holder = try locked(folder, .file)
  let connection = try Connection(path: folder.path("a.sqlite"))
  var waits = 0
  connection.setBusyHandler(timeout: timeout, onWait: { _ in waits += 1 })
  #expect(try databaseError { try connection.execute("BEGIN IMMEDIATE") }.code == .busy)
  #expect(waits == 0)
  try holder.execute("COMMIT")
}

@Test("the wait ends when it is cancelled or the lock is released")
func waitEnds() throws {
  let folder = try TemporaryFolder()
  let holder = try locked(folder, .file)
  let connection = try Connection(path: folder.path("a.sqlite"))
  var waits = 0
  connection.setBusyHandler(timeout: 3600, isCancelled: { waits == 3 }, onWait: { _ in waits += 1 })
  #expect(try databaseError { try connection.execute("BEGIN IMMEDIATE") }.code == .busy)
  #expect(waits == 3)
  connection.setBusyHandler(timeout: 3600, onWait: { _ in try? holder.execute("COMMIT") })
  try connection.execute("BEGIN IMMEDIATE")
  #expect(connection.isInTransaction)
}

// MARK: Interrupting

@Test("another thread can stop a long statement", arguments: Place.allCases)
func interrupting(place: Place) throws {
  let folder = try TemporaryFolder()
  let connection = try place.open(in: folder)
  let handle = connection.interruptHandle
  let done = Counter()
  let thread = Thread {
    // An interrupt before the statement runs has no effect, so repeat it until the end.
    while done.value == 0 {
      handle.interrupt()
      usleep(1000)
    }
  }
  thread.start()
  let error = try databaseError { try connection.execute(longQuery) }
  done.add()
  #expect(error.code == .interrupted)
  #expect(error.message == "interrupted")
}

@Test("an interrupt after the connection is closed has no effect")
func interruptAfterClose() throws {
  var handle: Interruptible?
  do {
    let connection = try Connection(path: nil)
    handle = connection.interruptHandle
    handle?.interrupt()
    #expect(try connection.value("SELECT 1") == 1)
  }
  handle?.interrupt()
  #expect(handle != nil)
}

@Test("interrupts may occur while the connection is closed")
func interruptWhileClosing() async throws {
  for _ in 1...50 {
    var connection: Connection? = try Connection(path: nil)
    let handle = try #require(connection?.interruptHandle)
    let task = Task.detached { for _ in 1...100 { handle.interrupt() } }
    connection = nil
    await task.value
    #expect(connection == nil)
  }
}

// MARK: Settings

@Test(
  "a setting has the value that was set",
  arguments: [
    Connection.Setting.foreignKeys, .triggers, .loadExtension, .defensive, .trustedSchema,
    .writableSchema, .legacyAlterTable, .doubleQuotedStringsInDML, .doubleQuotedStringsInDDL,
  ])
func settings(setting: Connection.Setting) throws {
  let connection = try Connection(path: nil)
  connection.set(.defensive, to: false)
  for value in [true, false, true] {
    connection.set(setting, to: value)
    #expect(connection.isOn(setting) == value)
    #expect(connection.isOn(setting) == value, "asking changes nothing")
  }
}

@Test("foreign keys can be switched inside a transaction, unlike with the PRAGMA")
func foreignKeysInTransaction() throws {
  let connection = try Connection(path: nil)
  try connection.execute(
    "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p); BEGIN")
  try connection.execute("PRAGMA foreign_keys = ON; INSERT INTO c VALUES(1)")
  let insert = try connection.prepare("INSERT INTO c VALUES(1)")
  connection.set(.foreignKeys, to: true)
  #expect(try connection.value("PRAGMA foreign_keys") == 1)
  #expect(try databaseError { try insert.run() }.message == "FOREIGN KEY constraint failed")
  connection.set(.foreignKeys, to: false)
  try insert.run()
  try connection.execute("COMMIT")
  #expect(try connection.value("SELECT count(*) FROM pragma_foreign_key_check") == 2)
}

@Test("triggers can be disabled")
func triggersOff() throws {
  let connection = try Connection(path: nil)
  try connection.execute(
    """
    CREATE TABLE t(a); CREATE TABLE log(a);
    CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a); END;
    """)
  connection.set(.triggers, to: false)
  try connection.execute("INSERT INTO t VALUES(1)")
  connection.set(.triggers, to: true)
  try connection.execute("INSERT INTO t VALUES(2)")
  #expect(try connection.rows("SELECT a FROM log") == [[2]])
}

@Test("the library's version is available in both forms")
func version() {
  let parts = Connection.libraryVersion.split(separator: ".").compactMap { Int($0) }
  #expect(parts[0] * 1_000_000 + parts[1] * 1000 + parts[2] == Connection.libraryVersionNumber)
}
