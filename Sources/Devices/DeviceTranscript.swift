import SchemaSQLText

/// The statements of two devices that show how one breaks the rows of the other.
package struct DeviceTranscript: Sendable, Hashable {
  /// Statements that one device runs until the other one continues.
  package struct Turn: Sendable, Hashable {
    package let isSender: Bool
    /// How to build the tables: only in the first turn of a device.
    package let schema: [String]
    /// In lines.
    package var statements: [String] = []
  }

  /// For the middle of a sentence: `a device on 1.0`.
  package let sender: String
  package let receiver: String
  package var turns: [Turn] = []
  /// What the last statement shows: `Refused: NOT NULL constraint failed: reminders.status`.
  package var outcome = ""

  init(_ sender: String, _ receiver: String) {
    self.sender = sender
    self.receiver = receiver
  }

  /// For two `sqlite3` shells.
  package var script: [String] {
    var lines: [String] = []
    for (index, turn) in turns.enumerated() {
      let isFirst = !turns[..<index].contains { $0.isSender == turn.isSender }
      let shell =
        switch (isFirst, turn.isSender) {
        case (true, true): "-- In one sqlite3 shell, \(sender):"
        case (true, false): "-- In another one, \(receiver), to which it comes:"
        case (false, true): "-- In the first shell again:"
        case (false, false): "-- In the second shell again:"
        }
      lines += [shell] + turn.schema + turn.statements
    }
    return lines + ["-- \(outcome)"]
  }
}
