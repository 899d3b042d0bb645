import SchemaCSQLite

/// A closure that is passed to SQLite as a pointer.
final class Box<Content> {
  let content: Content

  init(_ content: Content) {
    self.content = content
  }

  /// - Parameter pointer: a pointer to a box that is still referenced.
  static func at(_ pointer: UnsafeMutableRawPointer) -> Box {
    Unmanaged<Box>.fromOpaque(pointer).takeUnretainedValue()
  }
}

// MARK: Functions and collations

/// An SQL function written in Swift.
package struct FunctionDefinition: Sendable {
  package let name: String
  /// The number of arguments; -1 for any number.
  package let arguments: Int
  /// Indexes and generated columns can use only deterministic functions.
  package let isDeterministic: Bool
  package let body: @Sendable ([Value]) throws -> Value

  package init(
    name: String, arguments: Int, isDeterministic: Bool,
    body: @escaping @Sendable ([Value]) throws -> Value
  ) {
    self.name = name
    self.arguments = arguments
    self.isDeterministic = isDeterministic
    self.body = body
  }

  /// `uuid()`: a random UUID, version 4, lower case. SQLite itself has no such function.
  package static let uuid = FunctionDefinition(
    name: "uuid", arguments: 0, isDeterministic: false, body: { _ in .text(randomUUID()) })
}

/// An error of a function. Its text becomes SQLite's message.
package struct FunctionError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

extension Connection {
  /// Registers a function, replacing one with the same name and number of arguments.
  package func register(_ function: FunctionDefinition) throws(DatabaseError) {
    // The app's schema can call innocuous functions although it is not trusted.
    var flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
    if function.isDeterministic { flags |= SQLITE_DETERMINISTIC }
    typealias Body = Box<@Sendable ([Value]) throws -> Value>
    let box = Unmanaged.passRetained(Body(function.body))
    let code = sqlite3_create_function_v2(
      handle, function.name, Int32(clamping: function.arguments), flags, box.toOpaque(),
      { context, count, values in
        guard let data = sqlite3_user_data(context) else { return }
        do {
          try Body.at(data).content((0..<Int(count)).map { try Value(values?[$0]) }).give(
            to: context)
        } catch let error as DatabaseError where error.code == .outOfMemory {
          sqlite3_result_error_nomem(context)
        } catch {
          sqlite3_result_error(context, "\(error)", -1)
        }
      }, nil, nil,
      { data in
        if let data { Unmanaged<Body>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// Registers a collation. `compare` receives UTF-8 and returns a negative number, 0 or a positive
  /// number.
  package func registerCollation(
    _ name: String, compare: @escaping @Sendable (String, String) -> Int
  ) throws(DatabaseError) {
    typealias Comparison = Box<@Sendable (String, String) -> Int>
    let box = Unmanaged.passRetained(Comparison(compare))
    let code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, box.toOpaque(),
      { data, firstCount, first, secondCount, second in
        guard let data else { return 0 }
        let a = UnsafeRawBufferPointer(start: first, count: Int(firstCount))
        let b = UnsafeRawBufferPointer(start: second, count: Int(secondCount))
        return Int32(
          clamping: Comparison.at(data).content(
            String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self)))
      },
      { data in
        if let data { Unmanaged<Comparison>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else {
      // Unlike for functions, SQLite does not call a collation's destructor if registering fails.
      box.release()
      throw error(code)
    }
  }
}

private func randomUUID() -> String {
  // Two random numbers need fewer system calls than 16 random bytes.
  let high = UInt64.random(in: .min ... .max) & ~0xF000 | 0x4000
  let low = UInt64.random(in: .min ... .max) & ~(3 << 62) | 2 << 62
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for index in 0..<32 {
    if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
    let word = index < 16 ? high : low
    text.append(digits[Int(word >> UInt64(60 - index % 16 * 4) & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}

// MARK: The authorizer

/// An action code of `sqlite3_set_authorizer`.
package struct AuthorizerAction: RawRepresentable, Equatable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static let alterTable = AuthorizerAction(rawValue: SQLITE_ALTER_TABLE)
  package static let analyze = AuthorizerAction(rawValue: SQLITE_ANALYZE)
  package static let attach = AuthorizerAction(rawValue: SQLITE_ATTACH)
  package static let createIndex = AuthorizerAction(rawValue: SQLITE_CREATE_INDEX)
  package static let createTable = AuthorizerAction(rawValue: SQLITE_CREATE_TABLE)
  package static let delete = AuthorizerAction(rawValue: SQLITE_DELETE)
  package static let detach = AuthorizerAction(rawValue: SQLITE_DETACH)
  package static let dropIndex = AuthorizerAction(rawValue: SQLITE_DROP_INDEX)
  package static let dropTable = AuthorizerAction(rawValue: SQLITE_DROP_TABLE)
  package static let dropTrigger = AuthorizerAction(rawValue: SQLITE_DROP_TRIGGER)
  package static let dropVirtualTable = AuthorizerAction(rawValue: SQLITE_DROP_VTABLE)
  package static let function = AuthorizerAction(rawValue: SQLITE_FUNCTION)
  package static let insert = AuthorizerAction(rawValue: SQLITE_INSERT)
  package static let pragma = AuthorizerAction(rawValue: SQLITE_PRAGMA)
  package static let read = AuthorizerAction(rawValue: SQLITE_READ)
  package static let reindex = AuthorizerAction(rawValue: SQLITE_REINDEX)
  package static let savepoint = AuthorizerAction(rawValue: SQLITE_SAVEPOINT)
  package static let transaction = AuthorizerAction(rawValue: SQLITE_TRANSACTION)
  package static let update = AuthorizerAction(rawValue: SQLITE_UPDATE)
}

/// An action of a statement, as SQLite reports it during compilation.
///
/// The contents of `first` and `second` depend on the action (Authorizer Action Codes): for READ
/// and UPDATE the table and the column, for ALTER TABLE the database and the table.
package struct AuthorizerEvent: Sendable, Equatable {
  package let action: AuthorizerAction
  package let first: String?
  package let second: String?
  /// `main`, `temp` or the name of an attached database.
  package let database: String?
  /// The innermost trigger or view that causes the action; nil for the statement itself.
  package let trigger: String?

  init(
    action: AuthorizerAction, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
    database: UnsafePointer<CChar>?, trigger: UnsafePointer<CChar>?
  ) {
    self.action = action
    self.first = first.map { String(cString: $0) }
    self.second = second.map { String(cString: $0) }
    self.database = database.map { String(cString: $0) }
    self.trigger = trigger.map { String(cString: $0) }
  }
}

package enum AuthorizerDecision: Sendable {
  case allow
  /// Refuses the statement with `SQLITE_AUTH`.
  case deny
  /// Skips the action: a PRAGMA has no effect, a column reads as NULL.
  case ignore

  var code: Int32 {
    switch self {
    case .allow: SQLITE_OK
    case .deny: SQLITE_DENY
    case .ignore: SQLITE_IGNORE
    }
  }
}
