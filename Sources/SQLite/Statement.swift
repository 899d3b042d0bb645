import SchemaCSQLite
import SchemaPlatform

/// A prepared statement.
package final class Statement {
  private let connection: Connection
  private let handle: OpaquePointer

  init(connection: Connection, handle: OpaquePointer) {
    self.connection = connection
    self.handle = handle
  }

  deinit {
    sqlite3_finalize(handle)
  }

  package var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

  /// Whether the statement makes no direct change to the database file (`sqlite3_stmt_readonly`).
  package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// The number of parameters, such as `?` and `:a`.
  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  package var columnCount: Int { Int(sqlite3_column_count(handle)) }

  package var columnNames: [String] {
    (0..<sqlite3_column_count(handle)).map { index in
      sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
    }
  }

  /// The declared types of the table columns that the result columns return. Nil for expressions and for
  /// columns without a type (`sqlite3_column_decltype`).
  package var declaredTypes: [String?] {
    (0..<sqlite3_column_count(handle)).map { index in
      sqlite3_column_decltype(handle, index).map { String(cString: $0) }
    }
  }

  /// Binds values to the parameters `?1`, `?2`, … and resets the statement.
  package func bind(_ values: [Value]) throws(DatabaseError) {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    for (index, value) in values.enumerated() {
      let code = bind(value, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
    }
  }

  private func bind(_ value: Value, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let integer): return sqlite3_bind_int64(handle, index, integer)
    case .real(let real): return sqlite3_bind_double(handle, index, real)
    case .text(let text):
      // The length is given, so that a NUL does not end the text.
      return text.withCString { start in
        sqlite3_bind_text64(
          handle, index, start, UInt64(text.utf8.count), schemactl_transient(),
          UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
      return sqlite3_bind_blob64(
        handle, index, bytes, UInt64(bytes.count), schemactl_transient())
    }
  }

  /// Advances to the next row; returns false if there is none.
  package func step() throws(DatabaseError) -> Bool {
    let check = connection.stopCheck
    // A statement that writes nothing may end a transaction.
    if let timer = check?.timer, sqlite3_stmt_readonly(handle) == 0, timer.expire() {
      let error = connection.error(SQLITE_INTERRUPT, sql: sql)
      sqlite3_reset(handle)
      throw error
    }
    check?.running = handle
    check?.timer?.start()
    let code = sqlite3_step(handle)
    check?.running = nil
    defer { check?.timer?.stop() }
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = connection.error(code, sql: sql)
      sqlite3_reset(handle)
      throw connection.redactsValues ? error.redacted : error
    }
  }

  /// Runs to the end and ignores result rows.
  package func run() throws(DatabaseError) {
    while try step() {}
    sqlite3_reset(handle)
  }

  package func reset() {
    sqlite3_reset(handle)
  }

  /// The value of a column in the current row. Columns are counted from 0.
  package func value(_ column: Int) throws(DatabaseError) -> Value {
    try Value(sqlite3_column_value(handle, Int32(column)))
  }

  package func integer(_ column: Int) -> Int64 {
    sqlite3_column_int64(handle, Int32(column))
  }

  /// Calls a closure with the bytes of the column as text, without a copy; nil for NULL.
  package func withUTF8<Result>(
    of column: Int, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
  ) throws(DatabaseError) -> Result {
    // SQLite also returns no address when memory runs out.
    let start = sqlite3_column_text(handle, Int32(column))
    if start == nil, sqlite3_column_type(handle, Int32(column)) != SQLITE_NULL {
      throw .outOfMemory
    }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return body(start.map { UnsafeBufferPointer(start: $0, count: count) })
  }

  /// The column as text, nil for NULL.
  package func text(_ column: Int) throws(DatabaseError) -> String? {
    try withUTF8(of: column) { $0.map { String(decoding: $0, as: UTF8.self) } }
  }

  /// Whether the column contains this text, compared byte by byte; nil matches NULL.
  package func holds(_ text: String?, in column: Int) throws(DatabaseError) -> Bool {
    try withUTF8(of: column) { bytes in
      guard let bytes, var text else { return bytes == nil && text == nil }
      return text.withUTF8 { $0.elementsEqual(bytes) }
    }
  }

  package var row: [Value] {
    get throws(DatabaseError) {
      try (0..<columnCount).map { (column) throws(DatabaseError) in try value(column) }
    }
  }
}

/// A text of several statements, which SQLite itself splits (`pzTail` of `sqlite3_prepare_v3`).
///
/// Each statement is compiled only after the previous ones have run, because it may need objects
/// that they create.
package struct Script {
  /// Ends with a NUL. Otherwise SQLite would copy all of the remaining text for every statement.
  private let bytes: [UInt8]
  /// The byte at which the next statement, or the white space before it, begins.
  package private(set) var offset = 0
  /// The bytes of the last statement from `next`, including preceding white space and comments. If
  /// it did not compile, the bytes that SQLite read.
  package private(set) var range = 0..<0

  package init(_ sql: String) {
    bytes = Array(sql.utf8) + [0]
  }

  /// The next statement; nil at the end. Skips comments and white space. After an error it returns
  /// the same statement again.
  package mutating func next(on connection: Connection) throws(DatabaseError) -> Statement? {
    while offset < bytes.count - 1 {
      let start = offset
      var handle: OpaquePointer?
      let (code, length) = bytes.withUnsafeBytes { buffer -> (Int32, Int) in
        let characters = buffer.bindMemory(to: CChar.self)
        guard let base = characters.baseAddress else { return (SQLITE_OK, 0) }
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          connection.handle, base + start, Int32(clamping: characters.count - start), 0, &handle,
          &tail)
        return (code, tail.map { base.distance(to: $0) - start } ?? characters.count - start)
      }
      range = start..<min(start + length, bytes.count - 1)
      guard code == SQLITE_OK else {
        let error = connection.error(code, sql: String(decoding: bytes[range], as: UTF8.self))
        if connection.trustsSchema(after: error) { continue }
        throw error
      }
      offset = start + length
      if let handle { return Statement(connection: connection, handle: handle) }
      // SQLite ends the text at a NUL, so any text after it would never run.
      if length == 0 {
        throw DatabaseError(
          extendedCode: SQLITE_ERROR, message: "the SQL contains a NUL character",
          sql: String(decoding: bytes[start..<bytes.count - 1], as: UTF8.self), offset: 0)
      }
    }
    return nil
  }
}
