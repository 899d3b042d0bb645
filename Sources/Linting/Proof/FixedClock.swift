import SQLite

extension Connection {
  /// Puts functions that answer the same each time in the place of the clock and of chance, so that
  /// rows that call them, in a DEFAULT or in a trigger, are the same in every run.
  func fixClockAndChance() throws(DatabaseError) {
    for (name, value) in constants {
      try register(
        FunctionDefinition(name: name, arguments: 0, isDeterministic: true, body: { _ in value }))
    }
    for name in ["date", "time", "datetime", "julianday", "unixepoch", "strftime"] {
      try register(
        FunctionDefinition(name: name, arguments: -1, isDeterministic: true) { arguments in
          try atFixedTime(name, arguments)
        })
    }
    try register(
      FunctionDefinition(name: "randomblob", arguments: 1, isDeterministic: true) { arguments in
        // SQLite itself gives at least one byte.
        .blob([UInt8](repeating: 0xA5, count: max(1, Int(clamping: arguments[0].integer ?? 1))))
      })
  }
}

private let now = "2026-01-01 12:00:00"

private let constants: [(String, Value)] = [
  ("current_timestamp", .text(now)), ("current_date", "2026-01-01"), ("current_time", "12:00:00"),
  ("random", 1), ("uuid", "a5a5a5a5-a5a5-45a5-a5a5-a5a5a5a5a5a5"),
]

/// What SQLite's own function says when it is that time.
private func atFixedTime(_ function: String, _ arguments: [Value]) throws -> Value {
  var arguments = arguments
  let time = function == "strftime" ? 1 : 0
  if arguments.count == time {
    arguments.append(.text(now))
  } else if arguments.indices.contains(time), arguments[time].text?.lowercased() == "now" {
    arguments[time] = .text(now)
  }
  let marks = arguments.map { _ in "?" }.joined(separator: ", ")
  let connection = try Connection(path: nil)
  return try connection.value("SELECT \(function)(\(marks))", arguments) ?? .null
}
