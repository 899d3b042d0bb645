import SchemaCSQLite

/// A primary result code (Result and Error Codes, section 3).
package struct ResultCode: RawRepresentable, Equatable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static let error = ResultCode(rawValue: SQLITE_ERROR)
  package static let permission = ResultCode(rawValue: SQLITE_PERM)
  package static let busy = ResultCode(rawValue: SQLITE_BUSY)
  package static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  package static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  package static let interrupted = ResultCode(rawValue: SQLITE_INTERRUPT)
  package static let ioError = ResultCode(rawValue: SQLITE_IOERR)
  package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  package static let full = ResultCode(rawValue: SQLITE_FULL)
  /// Other connections repeatedly took the locks of a WAL first.
  package static let lockingProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  package static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
}

/// An error that SQLite reported.
package struct DatabaseError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The extended code, for example `SQLITE_CONSTRAINT_TRIGGER`.
  package let extendedCode: Int32
  /// SQLite's message. For `RAISE(ABORT, 'text')` it is the text.
  package let message: String
  /// The failed statement, if there was one. If it did not compile, the text that SQLite read.
  package let sql: String?
  /// The byte offset of the error in `sql`, if SQLite knows it (`sqlite3_error_offset`).
  package let offset: Int?
  /// The `errno` of the failed system call; 0 if there was none (`sqlite3_system_errno`).
  package let systemError: Int32
  /// The limit that a statement on a private database exceeded.
  package internal(set) var exceeded: WorkLimit.Exceeded?

  package init(
    extendedCode: Int32, message: String, sql: String? = nil, offset: Int? = nil,
    systemError: Int32 = 0
  ) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
    self.offset = offset
    self.systemError = systemError
  }

  package var code: ResultCode { ResultCode(rawValue: extendedCode & 0xFF) }

  /// Whether the environment (memory, disk, a lock, an interrupt, a limit of the scratch database) or a
  /// damaged file caused the error. The SQL may then be correct.
  package var isFault: Bool {
    if exceeded != nil { return true }
    return switch code {
    case .busy, .locked, .lockingProtocol, .outOfMemory, .readOnly, .interrupted, .ioError,
      .corrupt, .full, .cannotOpen, .notADatabase, .permission:
      true
    default: false
    }
  }

  /// Whether an enforced foreign key failed. SQLite names neither the key nor a row.
  package var isForeignKey: Bool { extendedCode == SQLITE_CONSTRAINT | 3 << 8 }

  /// Whether SQLite itself detected that the file was deleted or replaced.
  package var saysMoved: Bool { extendedCode == SQLITE_READONLY | 4 << 8 }

  /// The error without its message if that may contain a value of a row: the message of a function, or of
  /// RAISE, whose message is an expression since SQLite 3.47. A message that begins with "error in" comes
  /// from ALTER TABLE and names an object of the schema.
  var redacted: DatabaseError {
    let isRaised =
      extendedCode == SQLITE_CONSTRAINT | 7 << 8 && sqlite3_libversion_number() >= 3_047_000
    guard isRaised || code == .error && !message.hasPrefix("error in ") else { return self }
    return DatabaseError(
      extendedCode: extendedCode,
      message: "SQLite stopped the statement with a message that may contain a value", sql: sql)
  }

  package var description: String { "\(message) (SQLite \(extendedCode))" }

  /// The error of a call that returns no value because memory runs out.
  static let outOfMemory = DatabaseError(nil, code: SQLITE_NOMEM)

  /// Reads the error of the last call on `handle`.
  init(_ handle: OpaquePointer?, code: Int32, sql: String? = nil) {
    guard let handle, code != SQLITE_MISUSE else {
      self.init(extendedCode: code, message: String(cString: sqlite3_errstr(code)), sql: sql)
      return
    }
    let extended = sqlite3_extended_errcode(handle)
    let matches = extended & 0xFF == code & 0xFF
    let offset = sql == nil ? -1 : sqlite3_error_offset(handle)
    // SQLite keeps both values from earlier errors, so they are valid only for these codes.
    let hasSystemError = code & 0xFF == SQLITE_CANTOPEN || code & 0xFF == SQLITE_IOERR
    self.init(
      extendedCode: matches ? extended : code,
      message: String(cString: matches ? sqlite3_errmsg(handle) : sqlite3_errstr(code)),
      sql: sql, offset: offset < 0 ? nil : Int(offset),
      systemError: hasSystemError ? sqlite3_system_errno(handle) : 0)
  }
}
