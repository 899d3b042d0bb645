import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Connection {
  /// Replaces the date functions and the random functions by functions with fixed results, so that defaults
  /// and triggers that call them write the same rows in every run.
  ///
  /// - Parameters:
  ///   - day: the fixed date.
  ///   - time: the fixed time of day.
  package func fixClockAndChance(
    _ counter: ChanceCounter, on day: String = ChanceCounter.day,
    at time: String = ChanceCounter.noon
  ) throws(DatabaseError) {
    let now = "\(day) \(time)"
    let constants: [(String, Value)] = [
      ("current_timestamp", .text(now)), ("current_date", .text(day)),
      ("current_time", .text(time)),
    ]
    for (name, value) in constants {
      try register(
        FunctionDefinition(name: name, arguments: 0, isDeterministic: true, body: { _ in value }))
    }
    let known = try rows("SELECT name FROM pragma_function_list").compactMap {
      $0[0].text?.identifier
    }
    for name in TimeFunctions.names.intersection(known) {
      try register(
        FunctionDefinition(name: name.text, arguments: -1, isDeterministic: true) { arguments in
          try evaluated(name, arguments, at: now)
        })
    }
    try register(
      FunctionDefinition(name: "random", arguments: 0, isDeterministic: false) { _ in
        .integer(counter.next())
      })
    try register(
      FunctionDefinition(name: "uuid", arguments: 0, isDeterministic: false) { _ in
        .text("a5a5a5a5-a5a5-45a5-a5a5-" + padded("\(counter.next())", 12))
      })
    try register(
      FunctionDefinition(name: "randomblob", arguments: 1, isDeterministic: false) { arguments in
        // SQLite's own function also returns at least one byte.
        let count = max(1, Int(clamping: arguments[0].integer ?? 1))
        let digits = Array(padded("\(counter.next())", 12).utf8)
        return .blob(([UInt8](repeating: 0xA5, count: count) + digits).suffix(count))
      })
  }
}

/// A counter that gives random functions their results.
package final class ChanceCounter: Sendable {
  /// The fixed date.
  package static let day = "2026-01-01"
  package static let noon = "12:00:00"
  /// Noon of the fixed date as Unix time.
  package static let seconds: Int64 = 1_767_268_800

  /// Numbers that rows do not otherwise contain. They distinguish the results of random functions.
  package static let range: Range<Int64> = 5_400_000_000..<5_500_000_000
  private let count: Locked<Int64>
  private let step: Int64

  /// - Parameter step: with 0, every result is the same.
  package init(from first: Int64 = 0, step: Int64 = 1) {
    count = Locked(first)
    self.step = step
  }

  /// The last result.
  package var last: Int64 { count.withLock { $0 } }

  package func next() -> Int64 {
    count.withLock { count in
      count += step
      return count
    }
  }
}

/// The result of SQLite's own function at the time `now`.
private func evaluated(
  _ function: Identifier, _ arguments: [Value], at now: String
) throws -> Value {
  var arguments = arguments
  let times = TimeFunctions.times(of: function)
  if arguments.count == times.lowerBound { arguments.append(.text(now)) }
  for place in times.clamped(to: arguments.indices) {
    guard let text = arguments[place].text, TimeFunctions.isPresent(text) else { continue }
    arguments[place] = .text(now)
    // `'subsec'` without a time is also a modifier.
    if text.identifier != "now" { arguments.append(.text(text)) }
  }
  let marks = arguments.map { _ in "?" }.joined(separator: ", ")
  let connection = try Connection(path: nil)
  return try connection.value("SELECT \(function)(\(marks))", arguments) ?? .null
}
