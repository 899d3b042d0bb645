import SchemaCSQLite

/// A primary result code (Result and Error Codes, section 3).
package struct ResultCode: RawRepresentable, Hashable, Sendable {
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
  /// Another connection was faster, again and again, at the locks of a WAL.
  package static let lockingProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  package static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  package static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
}

/// What SQLite said went wrong.
package struct DatabaseError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The extended code, for example `SQLITE_CONSTRAINT_TRIGGER`.
  package let extendedCode: Int32
  /// SQLite's message: for `RAISE(ABORT, 'text')` it is the text.
  package let message: String
  /// The statement that failed, if there was one; of one that could not be compiled what SQLite
  /// has read.
  package let sql: String?
  /// The byte of `sql` at which SQLite stopped, when it knows (`sqlite3_error_offset`).
  package let offset: Int?
  /// `errno` of the call that failed, 0 when there was none (`sqlite3_system_errno`).
  package let systemError: Int32
  /// The limit that stopped a statement on a private database.
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

  /// Whether the world around is at fault (memory, disk, a lock, an interrupt) and not the SQL: it
  /// says nothing about what was asked.
  package var isFault: Bool {
    if exceeded != nil { return true }
    return switch code {
    case .busy, .locked, .lockingProtocol, .outOfMemory, .readOnly, .interrupted, .ioError,
      .corrupt, .full, .cannotOpen, .notADatabase, .permission:
      true
    default: false
    }
  }

  /// Whether SQLite has noticed by itself that the file was removed or replaced.
  package var saysMoved: Bool { extendedCode == SQLITE_READONLY | 4 << 8 }

  package var description: String { "\(message) (SQLite \(extendedCode))" }

  /// What SQLite gives no value for want of memory.
  static let outOfMemory = DatabaseError(nil, code: SQLITE_NOMEM)

  /// Reads the error that the last call on `handle` left there.
  init(_ handle: OpaquePointer?, code: Int32, sql: String? = nil) {
    guard let handle, code != SQLITE_MISUSE else {
      self.init(extendedCode: code, message: String(cString: sqlite3_errstr(code)), sql: sql)
      return
    }
    let extended = sqlite3_extended_errcode(handle)
    let matches = extended & 0xFF == code & 0xFF
    let offset = sql == nil ? -1 : sqlite3_error_offset(handle)
    // SQLite keeps both from earlier errors: they mean something only where they are set.
    let hasSystemError = code & 0xFF == SQLITE_CANTOPEN || code & 0xFF == SQLITE_IOERR
    self.init(
      extendedCode: matches ? extended : code,
      message: String(cString: matches ? sqlite3_errmsg(handle) : sqlite3_errstr(code)),
      sql: sql, offset: offset < 0 ? nil : Int(offset),
      systemError: hasSystemError ? sqlite3_system_errno(handle) : 0)
  }
}
