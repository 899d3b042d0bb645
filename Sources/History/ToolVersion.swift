/// The version of schemactl, as `--version` says it and ledgers record it.
package enum ToolVersion {
  package static let current = "0.2.0"
}
