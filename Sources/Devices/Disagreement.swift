/// What devices of two versions of the app do to each other's rows.
package struct Disagreement: Sendable {
  /// The index of the migration that brought it.
  package let migration: Int
  package let table: String
  /// The table, or `reminders.status`.
  package let object: String
  /// What happens, in one line.
  package let message: String
  /// Nil when the table could not be tried.
  package let transcript: DeviceTranscript?
  /// Nothing is wrong; the table could not be tried.
  package let isNote: Bool
}
