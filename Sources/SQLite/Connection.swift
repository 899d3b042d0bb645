import SchemaCSQLite
import SchemaPlatform

/// An open SQLite database. Used by one thread at a time.
///
/// Every connection is opened with care for files that come from elsewhere: extensions cannot be
/// loaded, the schema is not trusted, cells are checked, the schema table cannot be edited.
package final class Connection {
  package enum Mode: Sendable {
    case readOnly
    case readWrite
    case readWriteCreate
    /// For a file that nobody writes: takes no lock and makes no file beside it, and so reads what
    /// stands on a medium that cannot be written, too. A journal beside the file is not looked at.
    case immutable
  }

  /// As it was given; `:memory:` for a private database.
  package let path: String
  let handle: OpaquePointer
  /// Whether somebody else has opened the connection, and will close it.
  package let isBorrowed: Bool
  private let interruptible: Interruptible
  private var busyHandler: BusyHandler?
  var stopCheck: StopCheck?
  private var authorizer: AuthorizerBox?
  /// Whether the schema cannot be read, or not be written through, without being trusted.
  private var needsTrust = false

  /// - Parameter path: a file, taken literally (no URI); nil is a private database in memory.
  package init(path: String?, mode: Mode = .readWriteCreate) throws(DatabaseError) {
    let flags =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    // SQLite would read ":memory:", "" and, where it was built so, "file:…" as something else, and
    // a path with a NUL in it as another path.
    guard path?.utf8.contains(0) != true else {
      throw DatabaseError(
        extendedCode: SQLITE_CANTOPEN, message: "the path of the database holds a NUL character")
    }
    let file = path.map { $0.utf8.first == UInt8(ascii: "/") ? $0 : "./" + $0 }
    let name = file.map { if case .immutable = mode { immutableURI($0) } else { $0 } }
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
    // It takes an address in memory and calls it (FTS3, section 8.1); Debian's SQLite lets anybody.
    set(.fts3Tokenizer, to: false)
    set(.trustedSchema, to: false)
    set(.defensive, to: true)
    set(.foreignKeys, to: false)
    try registerBuiltInFunctions()
    // Reads no page, so it does not fail on a file that is not a database.
    try execute("PRAGMA cell_size_check = ON")
  }

  /// A connection that somebody else has opened (`Connection.borrowing`).
  init(borrowing handle: OpaquePointer) {
    self.handle = handle
    let file = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? ""
    path = file.isEmpty ? ":memory:" : file
    isBorrowed = true
    interruptible = Interruptible(handle, mustRepeat: true)
    // Whoever opened it has decided whom to trust.
    needsTrust = isOn(.trustedSchema)
  }

  deinit {
    interruptible.forget()
    if !isBorrowed { sqlite3_close_v2(handle) }
  }

  // MARK: Statements

  /// Compiles the only statement of a text; a second one, which would never run, is an error.
  package func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var script = Script(sql)
    guard let statement = try script.next(on: self) else {
      throw DatabaseError(extendedCode: SQLITE_ERROR, message: "no statement", sql: sql)
    }
    let end = script.offset
    do {
      if try script.next(on: self) == nil { return statement }
    } catch  where !error.isFault {
      // What does not compile is a second statement, too.
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

  /// The first column of the first row, nil when there is no row.
  package func value(_ sql: String, _ values: [Value] = []) throws(DatabaseError) -> Value? {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? try statement.value(0) : nil
  }

  // MARK: State

  /// False once SQLite has ended the transaction, be it on its own (`sqlite3_get_autocommit`).
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Rows that INSERT, UPDATE and DELETE have changed since the connection was opened.
  package var totalChanges: Int64 { sqlite3_total_changes64(handle) }

  /// Changes when another connection has committed to the file, as soon as this one has taken a lock
  /// (`SQLITE_FCNTL_DATA_VERSION`). Unlike the PRAGMA it may be asked while a backup writes.
  package var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Whether the file is to be read in WAL mode (Database File Format, section 1.3.3); nil when its
  /// beginning cannot be read.
  package var isInWALFormat: Bool? {
    var version: UInt8 = 0
    return schemactl_read_file(handle, &version, 1, 18) == SQLITE_OK ? version == 2 : nil
  }

  /// Keeps all others out of a file, also where it is not a database, until the connection is closed. No
  /// transaction may be open.
  ///
  /// - Returns: false when another connection reads or writes it, or has it open in WAL mode.
  package func lockFile() -> Bool { schemactl_lock_file(handle) & 0xFF != SQLITE_BUSY }

  /// Lets a commit that was reported outlive a power cut, whatever SQLite was built to do.
  ///
  /// With less than EXTRA the deletion of a rollback journal is not synced: after a power cut it may
  /// be there again and undo the commit (PRAGMA synchronous), and where the commit has made the file
  /// shorter meanwhile, it cannot even do that, and the database is corrupt.
  package func makeCommitsDurable() throws(DatabaseError) {
    try execute("PRAGMA main.synchronous = EXTRA")
  }

  /// Whether the file is no longer the one that its path leads to: removed, or replaced by another
  /// (`SQLITE_FCNTL_HAS_MOVED`).
  package var hasMoved: Bool {
    // A look that fails reads as moved to SQLite: so it is asked twice, and the path has the last
    // word where it cannot be looked at at all.
    guard saysMoved, saysMoved else { return false }
    var status = stat()
    return stat(path, &status) == 0 || errno == ENOENT || errno == ENOTDIR
  }

  private var saysMoved: Bool {
    var answer: Int32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
    return code == SQLITE_OK && answer != 0
  }

  package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  package static var libraryVersionNumber: Int { Int(sqlite3_libversion_number()) }

  /// What tells this SQLite from every other one: its source, and the options it was built with.
  package static var libraryIdentity: [String] {
    var options: [String] = []
    while let option = sqlite3_compileoption_get(Int32(options.count)) {
      options.append(String(cString: option))
    }
    return [String(cString: sqlite3_sourceid())] + options
  }

  func error(_ code: Int32, sql: String? = nil) -> DatabaseError {
    var error = DatabaseError(handle, code: code, sql: sql)
    error.exceeded = exceeded(code)
    return error
  }

  // MARK: Settings

  /// Switches of `sqlite3_db_config`.
  package enum Setting: Sendable {
    case foreignKeys, triggers, loadExtension, fts3Tokenizer, defensive, trustedSchema
    /// Leaves a write-ahead log as it is when the last connection goes.
    case keepsLog
    case writableSchema, legacyAlterTable, doubleQuotedStringsInDML, doubleQuotedStringsInDDL

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
      }
    }
  }

  package func isOn(_ setting: Setting) -> Bool {
    var now: Int32 = 0
    _ = schemactl_db_config(handle, setting.option, -1, &now)
    return now != 0
  }

  /// Sets a switch at once, `foreignKeys` inside a transaction, too, where the PRAGMA does nothing:
  /// what was written before it there was not checked and never will be.
  package func set(_ setting: Setting, to value: Bool) {
    let value = value || setting == .trustedSchema && needsTrust
    _ = schemactl_db_config(handle, setting.option, value ? 1 : 0, nil)
  }

  /// Whether a statement that has failed will compile now, because the schema is trusted from here
  /// on.
  ///
  /// SQLite 3.40 counts its own JSON functions among those that a distrusted schema may not call, and
  /// calls a file "malformed" in which a CHECK says `json_valid(…)`. They do no harm, and there is no
  /// trusting them alone.
  func trustsSchema(after error: DatabaseError) -> Bool {
    // The function is written there as the schema writes it.
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

  /// How long a lock is waited for, in seconds; `isCancelled` is asked between tries, `onWait` is
  /// told how many seconds have gone by.
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
        let handler = Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
        return handler.shouldTryAgain(after: Int(tries)) ? 1 : 0
      }, Unmanaged.passUnretained(handler).toOpaque())
  }

  /// Ends a transaction that is open. Fails when SQLite has already ended it, which is what is wanted, or
  /// when there is no memory for it.
  package func rollBack() {
    guard isInTransaction else { return }
    interruptible.pausing { try? execute("ROLLBACK") }
  }

  /// What another thread may call to stop the statement that runs.
  package var interruptHandle: Interruptible { interruptible }

  // MARK: Authorizer

  /// Asks `decide` about every action while a statement is compiled; nil asks no longer.
  package func setAuthorizer(_ decide: ((AuthorizerEvent) -> AuthorizerDecision)?) {
    guard let decide else {
      sqlite3_set_authorizer(handle, nil, nil)
      authorizer = nil
      return
    }
    let box = AuthorizerBox(decide)
    authorizer = box
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, database, trigger in
        guard let context else { return SQLITE_DENY }
        let box = Unmanaged<AuthorizerBox>.fromOpaque(context).takeUnretainedValue()
        let event = AuthorizerEvent(
          action: AuthorizerAction(rawValue: action), first: first, second: second,
          database: database, trigger: trigger)
        return box.decide(event).code
      }, Unmanaged.passUnretained(box).toOpaque())
  }
}

/// Of a path that begins with `/` or `.` (Uniform Resource Identifiers in SQLite, section 3.1).
private func immutableURI(_ path: String) -> String {
  var uri = path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:"
  for scalar in path.unicodeScalars {
    switch scalar {
    case "%": uri += "%25"
    case "?": uri += "%3f"
    case "#": uri += "%23"
    default: uri.unicodeScalars.append(scalar)
    }
  }
  return uri + "?immutable=1"
}

extension Connection {
  /// How many pages the cache has written to the disk because it was full (`SQLITE_DBSTATUS_CACHE_SPILL`),
  /// since the connection was opened.
  package var cacheSpills: Int32 {
    var count: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_SPILL, &count, &highest, 0)
    return count
  }
}
