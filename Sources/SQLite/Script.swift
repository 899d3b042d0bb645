import SchemaCSQLite

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
          extendedCode: SQLITE_ERROR, message: "the SQL holds a NUL character",
          sql: String(decoding: bytes[start..<bytes.count - 1], as: UTF8.self), offset: 0)
      }
    }
    return nil
  }
}
