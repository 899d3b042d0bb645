/// The version of schemactl, which `--version` prints and ledgers record.
package enum ToolVersion {
  package static let current = "0.2.0"
}
