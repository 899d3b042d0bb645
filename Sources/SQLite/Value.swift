import SchemaCSQLite

/// A value of one of SQLite's five storage classes (Datatypes In SQLite, section 2).
///
/// Invalid UTF-8 in a stored text is replaced by U+FFFD, so do not write such a value back.
package enum Value: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// The result of `typeof()`.
  package var storageClass: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "blob"
    }
  }

  package var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  package var integer: Int64? {
    if case .integer(let integer) = self { integer } else { nil }
  }

  /// Reads a protected value: a function's argument or a column of a row.
  ///
  /// - Throws: an error if there is no memory to convert a text or to expand a blob.
  init(_ pointer: OpaquePointer?) throws(DatabaseError) {
    switch sqlite3_value_type(pointer) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(pointer))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(pointer))
    case SQLITE_TEXT:
      guard let start = sqlite3_value_text(pointer) else { throw .outOfMemory }
      let count = Int(sqlite3_value_bytes(pointer))
      self = .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(pointer)
      let count = Int(sqlite3_value_bytes(pointer))
      // Only a value without bytes may have no address.
      guard start != nil || count == 0 else { throw .outOfMemory }
      self = .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    default: self = .null
    }
  }

  /// Passes the value to SQLite as the result of a function.
  func give(to context: OpaquePointer?) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .integer(let integer): sqlite3_result_int64(context, integer)
    case .real(let real): sqlite3_result_double(context, real)
    case .text(let text):
      text.withCString { start in
        sqlite3_result_text64(
          context, start, UInt64(text.utf8.count), schemactl_transient(), UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
      sqlite3_result_blob64(context, bytes, UInt64(bytes.count), schemactl_transient())
    }
  }
}

extension Value {
  /// Whether both have the same storage class and `a IS b` holds in SQLite, which compares texts by
  /// their bytes.
  package static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
}
