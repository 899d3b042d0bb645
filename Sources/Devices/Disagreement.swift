/// Harm that devices with two versions of the app do to each other's rows.
package struct Disagreement: Sendable {
  /// The index of the migration that caused it.
  package let migration: Int
  package let table: String
  /// The table, or `reminders.status`.
  package let object: String
  /// Describes the harm in one line.
  package let message: String
  /// Nil if there is no harm to report, only a table that could not be tested.
  package let transcript: DeviceTranscript?
}
