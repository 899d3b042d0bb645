import SchemaSQLText

extension Rule {
  /// Explains the replacement of a former rule id; nil for another id.
  package static func problem(withOldID id: String) -> String? {
    guard let successor = successors[id.exact] else { return nil }
    return successor.map { "the rule `\(id)` is now called `\($0)`" }
      ?? "`\(id)` is no longer a rule: remove this entry"
  }

  /// The new ids; nil for a rule that no other rule replaces.
  private static let successors: [ExactText: String?] = [
    "add-non-constant-default": "fails-on-data",
    "add-not-null-without-default": "fails-on-data",
    "add-stored-generated": "fails-on-data",
    "attach": nil,
    "baseline-unused": "unused-suppression",
    "blob-beside-columns": "wide-blob",
    "cascade-delete": "loses-rows",
    "delete-without-where": "without-where",
    "dependents-read-new-values": nil,
    "drop-check": "drop-constraint",
    "drop-foreign-key": "drop-constraint",
    "drop-index": "drop-object",
    "drop-trigger": "drop-object",
    "drop-unique": "drop-constraint",
    "drop-view": "drop-object",
    "fails-on-rows": "fails-on-data",
    "load-extension": nil,
    "map-not-total": "loses-values",
    "narrowing-type": "loses-values",
    "new-check": "fails-on-data",
    "new-unique": "fails-on-data",
    "null-to-not-null": "fails-on-data",
    "pragma": "discouraged-statement",
    "query-columns-changed": "query-broken",
    "query-needs-newer-release": "query-broken",
    "rebuild-loses-column": "loses-values",
    "rebuild-loses-rows": "loses-rows",
    "rebuild-mismatched-copy": "loses-values",
    "record-name": "cloudkit-name",
    "rename-old-first": "loses-rows",
    "reserved-name": "cloudkit-name",
    "rowid-alias-change": "primary-key-change",
    "temp-object-left-behind": "discouraged-statement",
    "tightened-check": "fails-on-data",
    "transaction-control": nil,
    "unknown-collation": "broken-object",
    "unknown-function": "broken-object",
    "update-without-where": "without-where",
    "vacuum": nil,
    "waiver-expired": "unused-suppression",
    "waiver-unknown-rule": nil,
    "waiver-unused": "unused-suppression",
    "waiver-without-reason": nil,
    "writable-schema": "discouraged-statement",
  ]
}
