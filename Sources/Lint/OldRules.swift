import SchemaSQLText
import SchemaTimeline

extension Rule {
  /// The replacement of a rule of version 0.1.
  private enum Successor {
    case rule(String)
    /// Manifests that violated the rule are invalid now.
    case invalidManifest
  }

  /// Explains the replacement of a rule id of version 0.1; nil for another id.
  package static func problem(withOldID id: String) -> String? {
    switch successors[id.exact] {
    case nil: nil
    case .rule(let new): "the rule `\(id)` is now called `\(new)`"
    case .invalidManifest:
      "`\(id)` is no longer a rule: its findings are now errors in the manifest, so remove this "
        + "entry"
    }
  }

  private static let successors: [ExactText: Successor] = [
    "add-non-constant-default": .rule("fails-on-data"),
    "add-not-null-without-default": .rule("fails-on-data"),
    "add-stored-generated": .rule("fails-on-data"),
    "attach": .invalidManifest,
    "baseline-unused": .rule("unused-suppression"),
    "blob-beside-columns": .rule("wide-blob"),
    "cascade-delete": .rule("loses-rows"),
    "delete-without-where": .rule("without-where"),
    "drop-check": .rule("drop-constraint"),
    "drop-foreign-key": .rule("drop-constraint"),
    "drop-index": .rule("drop-object"),
    "drop-trigger": .rule("drop-object"),
    "drop-unique": .rule("drop-constraint"),
    "drop-view": .rule("drop-object"),
    "fails-on-rows": .rule("fails-on-data"),
    "load-extension": .invalidManifest,
    "map-not-total": .rule("loses-values"),
    "narrowing-type": .rule("loses-values"),
    "new-check": .rule("fails-on-data"),
    "new-unique": .rule("fails-on-data"),
    "null-to-not-null": .rule("fails-on-data"),
    "pragma": .rule("discouraged-statement"),
    "query-columns-changed": .rule("query-broken"),
    "query-needs-newer-release": .rule("query-broken"),
    "rebuild-loses-column": .rule("loses-values"),
    "rebuild-loses-rows": .rule("loses-rows"),
    "rebuild-mismatched-copy": .rule("loses-values"),
    "record-name": .rule("cloudkit-name"),
    "rename-old-first": .rule("loses-rows"),
    "reserved-name": .rule("cloudkit-name"),
    "rowid-alias-change": .rule("primary-key-change"),
    "temp-object-left-behind": .rule("discouraged-statement"),
    "tightened-check": .rule("fails-on-data"),
    "transaction-control": .invalidManifest,
    "unknown-collation": .rule("broken-object"),
    "unknown-function": .rule("broken-object"),
    "update-without-where": .rule("without-where"),
    "vacuum": .invalidManifest,
    "waiver-expired": .rule("unused-suppression"),
    "waiver-unknown-rule": .invalidManifest,
    "waiver-unused": .rule("unused-suppression"),
    "waiver-without-reason": .invalidManifest,
    "writable-schema": .rule("discouraged-statement"),
  ]
}
