import SchemaModel

/// How an edited manifest differs from the frozen one.
package struct ManifestDiff: Sendable {
  /// The commit that has the frozen text.
  package var commit: String?
  /// The command that brings the frozen text back.
  package var restore: String?
  /// As `git diff` shows it.
  package var text = ""
  /// From the schema after the frozen form to the schema after the present one.
  package var schema: [SchemaChange] = []
  /// Why something of this is missing.
  package var problem: String?

  package init() {}
}
