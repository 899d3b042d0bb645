import SchemaCSQLite

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
    // Innocuous functions can be called by the app's schema although it is not trusted.
    var flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
    if function.isDeterministic { flags |= SQLITE_DETERMINISTIC }
    let box = Unmanaged.passRetained(FunctionBox(function.body))
    let code = sqlite3_create_function_v2(
      handle, function.name, Int32(clamping: function.arguments), flags, box.toOpaque(),
      { context, count, values in
        guard let data = sqlite3_user_data(context) else { return }
        let box = Unmanaged<FunctionBox>.fromOpaque(data).takeUnretainedValue()
        do {
          try box.body((0..<Int(count)).map { try Value(values?[$0]) }).give(to: context)
        } catch let error as DatabaseError where error.code == .outOfMemory {
          sqlite3_result_error_nomem(context)
        } catch {
          sqlite3_result_error(context, "\(error)", -1)
        }
      }, nil, nil,
      { data in
        if let data { Unmanaged<FunctionBox>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// Registers a collation. `compare` receives UTF-8 and returns a negative number, 0 or a positive
  /// number.
  package func registerCollation(
    _ name: String, compare: @escaping @Sendable (String, String) -> Int
  ) throws(DatabaseError) {
    let box = Unmanaged.passRetained(CollationBox(compare))
    let code = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, box.toOpaque(),
      { data, firstCount, first, secondCount, second in
        guard let data else { return 0 }
        let box = Unmanaged<CollationBox>.fromOpaque(data).takeUnretainedValue()
        let a = UnsafeRawBufferPointer(start: first, count: Int(firstCount))
        let b = UnsafeRawBufferPointer(start: second, count: Int(secondCount))
        return Int32(
          clamping: box.compare(
            String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self)))
      },
      { data in
        if let data { Unmanaged<CollationBox>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else {
      // Unlike for functions, SQLite does not call a collation's destructor if registering fails.
      box.release()
      throw error(code)
    }
  }

  func registerBuiltInFunctions() throws(DatabaseError) {
    try register(.uuid)
  }
}

private final class FunctionBox {
  let body: @Sendable ([Value]) throws -> Value

  init(_ body: @escaping @Sendable ([Value]) throws -> Value) {
    self.body = body
  }
}

private final class CollationBox {
  let compare: @Sendable (String, String) -> Int

  init(_ compare: @escaping @Sendable (String, String) -> Int) {
    self.compare = compare
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
