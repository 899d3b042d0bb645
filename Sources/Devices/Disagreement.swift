/// What devices of two versions of the app do to each other's rows.
package struct Disagreement: Sendable {
  /// The index of the migration that brought it.
  package let migration: Int
  package let table: String
  /// The table, or `reminders.status`.
  package let object: String
  /// What happens, in one line, and then a script that shows it.
  package let lines: [String]
  /// Nothing is wrong; the table could not be tried.
  package let isNote: Bool
}
