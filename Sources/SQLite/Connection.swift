import SchemaCSQLite
import SchemaPlatform

/// An open SQLite database, for use by one thread at a time.
///
/// Every connection is opened safely for untrusted files: extensions cannot be loaded, the schema
/// is not trusted, cells are checked, and the schema table cannot be edited.
package final class Connection {
  package enum Mode: Sendable {
    case readOnly
    case readWrite
    case readWriteCreate
    /// For a file that no process writes. It takes no lock and creates no other files, so it also
    /// works on read-only media. It ignores a journal.
    case immutable
  }

  /// The path as given; `:memory:` for a private database.
  package let path: String
  let handle: OpaquePointer
  /// Whether the caller opened the connection and will close it.
  package let isBorrowed: Bool
  private let interruptible: Interruptible
  private var isClosed = false
  private var busyHandler: BusyHandler?
  var stopCheck: StopCheck?
  /// Whether errors of running statements omit messages that may contain a value of a row.
  package var redactsValues = false
  private var authorizer: Box<(AuthorizerEvent) -> AuthorizerDecision>?
  /// Whether the schema is always trusted: because statements do not compile otherwise, or because the caller
  /// of a borrowed connection trusts it.
  private var needsTrust = false

  /// - Parameter path: the literal name of a file (no URI); nil for a private in-memory database.
  package init(path: String?, mode: Mode = .readWriteCreate) throws(DatabaseError) {
    let flags =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    // SQLite gives ":memory:", "" and, with a build option, "file:…" another meaning, and it
    // truncates a path at a NUL.
    guard path?.utf8.contains(0) != true else {
      throw DatabaseError(
        extendedCode: SQLITE_CANTOPEN, message: "the path of the database contains a NUL character")
    }
    let file = path.map { $0.utf8.first == UInt8(ascii: "/") ? $0 : "./" + $0 }
    let name = file.map { if case .immutable = mode { uri(ofImmutable: $0) } else { $0 } }
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(name ?? ":memory:", &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      let error = DatabaseError(handle, code: code)
      sqlite3_close_v2(handle)
      throw error
    }
    sqlite3_extended_result_codes(handle, 1)
    self.handle = handle
    self.path = path ?? ":memory:"
    isBorrowed = false
    interruptible = Interruptible(handle, mustRepeat: false)
    lowerLimits()
    set(.loadExtension, to: false)
    // The function calls a given memory address (FTS3, section 8.1), and Debian's SQLite allows it
    // by default.
    set(.fts3Tokenizer, to: false)
    set(.trustedSchema, to: false)
    set(.defensive, to: true)
    set(.foreignKeys, to: false)
    try register(.uuid)
    // Reads no page, so it succeeds even if the file is not a database.
    try execute("PRAGMA cell_size_check = ON")
  }

  /// Wraps a connection that the caller has opened, without changing its settings.
  package init(borrowing handle: OpaquePointer) {
    self.handle = handle
    let file = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? ""
    path = file.isEmpty ? ":memory:" : file
    isBorrowed = true
    interruptible = Interruptible(handle, mustRepeat: true)
    // The caller decides whether to trust the schema.
    needsTrust = isOn(.trustedSchema)
  }

  deinit { close() }

  /// Closes the connection before its last reference is released. It must not be used afterwards. A borrowed
  /// connection remains open.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    interruptible.forget()
    if !isBorrowed { sqlite3_close_v2(handle) }
  }

  // MARK: Statements

  /// Compiles the only statement of a text. A second statement is an error, because it would never
  /// run.
  package func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var script = Script(sql)
    guard let statement = try script.next(on: self) else {
      throw DatabaseError(extendedCode: SQLITE_ERROR, message: "no statement", sql: sql)
    }
    let end = script.offset
    do {
      if try script.next(on: self) == nil { return statement }
    } catch  where !error.isFault {
      // Text that does not compile counts as a second statement.
    }
    throw DatabaseError(
      extendedCode: SQLITE_ERROR, message: "more than one statement", sql: sql, offset: end)
  }

  /// Runs every statement of a text.
  package func execute(_ sql: String) throws(DatabaseError) {
    var script = Script(sql)
    while let statement = try script.next(on: self) { try statement.run() }
  }

  package func execute(_ sql: String, _ values: [Value]) throws(DatabaseError) {
    let statement = try prepare(sql)
    try statement.bind(values)
    try statement.run()
  }

  package func rows(_ sql: String, _ values: [Value] = []) throws(DatabaseError) -> [[Value]] {
    let statement = try prepare(sql)
    try statement.bind(values)
    var rows: [[Value]] = []
    while try statement.step() { rows.append(try statement.row) }
    return rows
  }

  /// The first column of the first row; nil if there is no row.
  package func value(_ sql: String, _ values: [Value] = []) throws(DatabaseError) -> Value? {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? try statement.value(0) : nil
  }

  // MARK: State

  /// False after SQLite has ended the transaction, including on its own (`sqlite3_get_autocommit`).
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows that INSERT, UPDATE and DELETE have changed since the connection was opened.
  package var totalChanges: Int64 { sqlite3_total_changes64(handle) }

  /// The rowid of the last row that a statement, not a trigger, inserted.
  package var lastInsertRowid: Int64 {
    get { sqlite3_last_insert_rowid(handle) }
    set { sqlite3_set_last_insert_rowid(handle, newValue) }
  }

  /// A number that changes when another connection commits to the file. It is updated when this connection
  /// takes a lock (`SQLITE_FCNTL_DATA_VERSION`). Unlike the PRAGMA, it can be read while a backup writes.
  package var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Whether the file's header requires WAL mode (Database File Format, section 1.3.3); nil if the
  /// header cannot be read.
  package var isInWALFormat: Bool? {
    var version: UInt8 = 0
    return schemactl_read_file(handle, &version, 1, 18) == SQLITE_OK ? version == 2 : nil
  }

  /// Locks all other connections out of a file until the connection is closed, even if the file is
  /// not a database. No transaction may be open.
  ///
  /// - Returns: false if another connection reads or writes the file, or has it open in WAL mode.
  package func lockFile() -> Bool { schemactl_lock_file(handle) & 0xFF != SQLITE_BUSY }

  /// Ensures that a reported commit survives a power failure, regardless of SQLite's build options.
  ///
  /// With less than EXTRA, SQLite does not sync the deletion of a rollback journal. After a power
  /// failure the journal may exist again and undo the commit (PRAGMA synchronous). If the commit
  /// made the file shorter, undoing it fails, and the database is corrupt.
  package func makeCommitsDurable() throws(DatabaseError) {
    try execute("PRAGMA main.synchronous = EXTRA")
  }

  /// Whether the path no longer leads to the open file, because the file was deleted or replaced
  /// (`SQLITE_FCNTL_HAS_MOVED`).
  package var hasMoved: Bool {
    // SQLite also reports a failed check as moved. So check twice, and then look at the path
    // itself.
    guard saysMoved, saysMoved else { return false }
    var status = stat()
    return stat(path, &status) == 0 || errno == ENOENT || errno == ENOTDIR
  }

  private var saysMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  /// The number of pages that the full cache wrote to disk since the connection was opened
  /// (`SQLITE_DBSTATUS_CACHE_SPILL`).
  package var cacheSpills: Int32 {
    var count: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_SPILL, &count, &highest, 0)
    return count
  }

  package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  package static var libraryVersionNumber: Int { Int(sqlite3_libversion_number()) }

  func error(_ code: Int32, sql: String? = nil) -> DatabaseError {
    var error = DatabaseError(handle, code: code, sql: sql)
    error.exceeded = exceeded(code)
    return error
  }

  // MARK: Settings

  /// Switches of `sqlite3_db_config`.
  package enum Setting: Sendable {
    case foreignKeys, triggers, loadExtension, fts3Tokenizer, defensive, trustedSchema
    /// Keeps the write-ahead log when the last connection closes.
    case keepsLog
    case writableSchema, legacyAlterTable, doubleQuotedStringsInDML, doubleQuotedStringsInDDL
    /// Makes EXPLAIN QUERY PLAN also list the plans of triggers.
    case explainsTriggers

    var option: Int32 {
      switch self {
      case .foreignKeys: SQLITE_DBCONFIG_ENABLE_FKEY
      case .triggers: SQLITE_DBCONFIG_ENABLE_TRIGGER
      case .loadExtension: SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION
      case .fts3Tokenizer: SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER
      case .defensive: SQLITE_DBCONFIG_DEFENSIVE
      case .trustedSchema: SQLITE_DBCONFIG_TRUSTED_SCHEMA
      case .keepsLog: SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE
      case .writableSchema: SQLITE_DBCONFIG_WRITABLE_SCHEMA
      case .legacyAlterTable: SQLITE_DBCONFIG_LEGACY_ALTER_TABLE
      case .doubleQuotedStringsInDML: SQLITE_DBCONFIG_DQS_DML
      case .doubleQuotedStringsInDDL: SQLITE_DBCONFIG_DQS_DDL
      case .explainsTriggers: SQLITE_DBCONFIG_TRIGGER_EQP
      }
    }
  }

  package func isOn(_ setting: Setting) -> Bool {
    var now: Int32 = 0
    _ = schemactl_db_config(handle, setting.option, -1, &now)
    return now != 0
  }

  /// Sets a switch immediately. Unlike its PRAGMA, `foreignKeys` also works inside a transaction;
  /// rows that the transaction wrote before are never checked.
  package func set(_ setting: Setting, to value: Bool) {
    let value = value || setting == .trustedSchema && needsTrust
    _ = schemactl_db_config(handle, setting.option, value ? 1 : 0, nil)
  }

  /// Trusts the schema if that may allow a failed statement to compile. Returns whether to try
  /// again.
  ///
  /// SQLite 3.40 does not allow an untrusted schema to call its own JSON functions, and reports a
  /// file as "malformed" if a CHECK contains `json_valid(…)`. These functions are harmless, but
  /// SQLite cannot trust them separately.
  func trustsSchema(after error: DatabaseError) -> Bool {
    // The message contains the function's name as the schema spells it, in upper or lower case.
    let message = Array(error.message.lowercased().utf8)
    let isOfJSON = message.indices.contains { place in
      ["unsafe use of json", "unsafe use of ->"].contains {
        message[place...].starts(with: $0.utf8)
      }
    }
    guard !needsTrust, isOfJSON else { return false }
    needsTrust = true
    set(.trustedSchema, to: true)
    return true
  }

  // MARK: Waiting and interrupting

  /// Sets how long to wait for a lock, in seconds. `isCancelled` is called between attempts;
  /// `onWait` receives the number of seconds so far.
  package func setBusyHandler(
    timeout: Double, isCancelled: @escaping () -> Bool = { false },
    onWait: @escaping (Double) -> Void = { _ in }
  ) {
    let handler = BusyHandler(timeout: timeout, isCancelled: isCancelled, onWait: onWait)
    busyHandler = handler
    sqlite3_busy_handler(
      handle,
      { context, tries in
        guard let context else { return 0 }
        return Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
          .shouldTryAgain(after: Int(tries)) ? 1 : 0
      }, Unmanaged.passUnretained(handler).toOpaque())
  }

  /// Runs `body` in the open transaction, or in a read transaction of its own, so that it sees a single state
  /// of the database. If COMMIT fails, it throws: a transaction that remained open would prevent later
  /// commits.
  package func reading<Result>(_ body: () throws -> Result) throws -> Result {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Rolls back an open transaction. Ignores errors: SQLite may have ended the transaction already,
  /// or may lack memory for the statement.
  package func rollBack() {
    guard isInTransaction else { return }
    interruptible.pausing { try? execute("ROLLBACK") }
  }

  /// A handle with which another thread can stop the running statement.
  package var interruptHandle: Interruptible { interruptible }

  // MARK: Authorizer

  /// Calls `decide` for every action while a statement is compiled; nil removes the authorizer.
  package func setAuthorizer(_ decide: ((AuthorizerEvent) -> AuthorizerDecision)?) {
    guard let decide else {
      sqlite3_set_authorizer(handle, nil, nil)
      authorizer = nil
      return
    }
    let box = Box(decide)
    authorizer = box
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, database, trigger in
        guard let context else { return SQLITE_DENY }
        let event = AuthorizerEvent(
          action: AuthorizerAction(rawValue: action), first: first, second: second,
          database: database, trigger: trigger)
        return Box<(AuthorizerEvent) -> AuthorizerDecision>.at(context).content(event).code
      }, Unmanaged.passUnretained(box).toOpaque())
  }
}

/// The URI of an immutable file (Uniform Resource Identifiers in SQLite, section 3.1).
///
/// - Parameter path: begins with `/` or `.`.
private func uri(ofImmutable path: String) -> String {
  (path.hasPrefix("/") ? "file://" : "file:") + percentEncoded(path) + "?immutable=1"
}

/// A source that executes SQL queries: a connection, or a database that is accessed in another way.
package protocol RowSource {
  func rows(_ sql: String, _ values: [Value]) throws(DatabaseError) -> [[Value]]
}

extension RowSource {
  package func rows(_ sql: String) throws(DatabaseError) -> [[Value]] { try rows(sql, []) }

  /// The CREATE statement of a table; nil if the database does not have the table.
  package func sql(ofTable name: String) throws(DatabaseError) -> String? {
    try rows(
      "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
      [.text(name)]
    ).first?[0].text
  }
}

extension Connection: RowSource {}
