import CSQLite

/// What can be stored in SQLite.
enum Value: Sendable, Hashable {
  case null, integer(Int64), real(Double), text(String), blob([UInt8])
}

/// What SQLite has said.
struct SQLiteError: Error, CustomStringConvertible {
  let code: Int32
  let description: String
}

/// An open database, used by one thread at a time.
final class Connection {
  let handle: OpaquePointer

  init(path: String) throws {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      throw SQLiteError(code: code, description: "\(path) cannot be opened")
    }
    self.handle = handle
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  var lastID: Int64 { sqlite3_last_insert_rowid(handle) }

  func run(_ sql: String, _ values: Value...) throws {
    _ = try rows(sql, values) { _ in }
  }

  /// The rows of one statement.
  func rows<Result>(
    _ sql: String, _ values: [Value] = [], _ read: (Row) throws -> Result
  ) throws -> [Result] {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    for (index, value) in values.enumerated() {
      try check(value.bind(to: statement, Int32(index + 1)))
    }
    var results: [Result] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: results.append(try read(Row(statement: statement)))
      case SQLITE_DONE: return results
      case let code: try check(code)
      }
    }
  }

  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw SQLiteError(code: code, description: String(cString: sqlite3_errmsg(handle)))
  }

  #if DEBUG
    /// Shows each statement with its values before it runs.
    func trace(_ show: @escaping @Sendable (String) -> Void) {
      let box = Unmanaged.passRetained(Tracer(show: show)).toOpaque()
      sqlite3_trace_v2(
        handle, UInt32(SQLITE_TRACE_STMT),
        { _, context, statement, _ in
          guard let context, let text = sqlite3_expanded_sql(OpaquePointer(statement)) else {
            return 0
          }
          defer { sqlite3_free(text) }
          Unmanaged<Tracer>.fromOpaque(context).takeUnretainedValue().show(String(cString: text))
          return 0
        }, box)
    }

    private final class Tracer: Sendable {
      let show: @Sendable (String) -> Void
      init(show: @escaping @Sendable (String) -> Void) { self.show = show }
    }
  #endif
}

/// The row of a statement that was just read.
struct Row {
  fileprivate let statement: OpaquePointer?

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  func text(_ column: Int32) -> String? {
    sqlite3_column_text(statement, column).map { String(cString: $0) }
  }

  func blob(_ column: Int32) -> [UInt8] {
    let count = Int(sqlite3_column_bytes(statement, column))
    return [UInt8](
      UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count))
  }
}

extension Value {
  fileprivate func bind(to statement: OpaquePointer?, _ index: Int32) -> Int32 {
    // SQLite copies the bytes.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    return switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .real(let real): sqlite3_bind_double(statement, index, real)
    case .text(let text): sqlite3_bind_text(statement, index, text, -1, transient)
    case .blob(let bytes):
      sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
    }
  }
}
