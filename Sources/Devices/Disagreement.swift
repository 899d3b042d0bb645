import SchemaSQLText

/// Harm that devices with two versions of the app do to each other's rows.
package struct Disagreement: Sendable {
  /// The index of the migration that caused it.
  package let migration: Int
  package let table: String
  /// The table, or `reminders.status`.
  package let object: String
  /// Describes the harm in one line.
  package let message: String
  /// Nil if the table could not be tested, so that no harm is known.
  package let transcript: DeviceTranscript?
}

/// The statements on two devices that demonstrate how one breaks the rows of the other.
package struct DeviceTranscript: Sendable, Hashable {
  /// Consecutive statements of one device.
  package struct Turn: Sendable, Hashable {
    package let isSender: Bool
    /// The statements that create the tables, in the first turn of a device.
    package let schema: [String]
    /// One line each.
    package var statements: [String] = []
  }

  /// For the middle of a sentence: `a device on 1.0`.
  package let sender: String
  package let receiver: String
  package var turns: [Turn] = []
  /// The result of the last statement: `Refused: NOT NULL constraint failed: reminders.status`.
  package var outcome = ""

  init(_ sender: String, _ receiver: String) {
    self.sender = sender
    self.receiver = receiver
  }

  /// A script for two `sqlite3` shells.
  package var script: [String] {
    var lines: [String] = []
    for (index, turn) in turns.enumerated() {
      let isFirst = !turns[..<index].contains { $0.isSender == turn.isSender }
      let shell =
        switch (isFirst, turn.isSender) {
        case (true, true): "-- In one sqlite3 shell, \(sender):"
        case (true, false): "-- In another shell, \(receiver), which receives the row:"
        case (false, true): "-- In the first shell again:"
        case (false, false): "-- In the second shell again:"
        }
      lines += [shell] + turn.schema + turn.statements
    }
    return lines + ["-- \(outcome)"]
  }
}
