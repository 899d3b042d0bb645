import SchemaCSQLite

/// A text of several statements, split by SQLite itself (`pzTail` of `sqlite3_prepare_v3`).
///
/// Each statement is compiled only when the ones before it have run, because it may need what they
/// made.
package struct Script {
  /// With a NUL at the end: SQLite would copy a text without one, all that is left of it, for
  /// every statement.
  private let bytes: [UInt8]
  /// The byte at which the next statement, or the white space before it, begins.
  package private(set) var offset = 0
  /// The bytes of the statement that `next` gave last, with what stands before it. Of one that
  /// cannot be compiled: up to where SQLite stopped reading.
  package private(set) var range = 0..<0

  package init(_ sql: String) {
    bytes = Array(sql.utf8) + [0]
  }

  /// The next statement, nil at the end. Comments and white space are no statements. After an
  /// error it is the same one again.
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
      // A NUL ends the text for SQLite; what is behind it would never run.
      if length == 0 {
        throw DatabaseError(
          extendedCode: SQLITE_ERROR, message: "the SQL holds a NUL character",
          sql: String(decoding: bytes[start..<bytes.count - 1], as: UTF8.self), offset: 0)
      }
    }
    return nil
  }
}
