import SchemaSQLText

extension Rule {
  /// Explains the replacement of a former rule id; nil for another id.
  package static func problem(withOldID id: String) -> String? {
    former.first { $0.ids.contains(id.exact) }.map { rule, _ in
      rule.map { "the rule `\(id)` is now called `\($0)`" }
        ?? "`\(id)` is no longer a rule: remove this entry"
    }
  }

  /// The former ids by the rule that replaces them; nil for those that no rule replaces.
  private static let former: [(rule: String?, ids: [ExactText])] = [
    ("broken-object", ["unknown-collation", "unknown-function"]),
    ("cloudkit-name", ["record-name", "reserved-name"]),
    ("discouraged-statement", ["pragma", "temp-object-left-behind", "writable-schema"]),
    ("drop-constraint", ["drop-check", "drop-foreign-key", "drop-unique"]),
    ("drop-object", ["drop-index", "drop-trigger", "drop-view"]),
    (
      "fails-on-data",
      [
        "add-non-constant-default", "add-not-null-without-default", "add-stored-generated",
        "fails-on-rows", "new-check", "new-unique", "null-to-not-null", "tightened-check",
      ]
    ),
    ("loses-rows", ["cascade-delete", "rebuild-loses-rows", "rename-old-first"]),
    (
      "loses-values",
      ["map-not-total", "narrowing-type", "rebuild-loses-column", "rebuild-mismatched-copy"]
    ),
    ("primary-key-change", ["rowid-alias-change"]),
    ("query-broken", ["query-columns-changed"]),
    ("unused-suppression", ["baseline-unused", "waiver-expired", "waiver-unused"]),
    ("wide-blob", ["blob-beside-columns"]),
    ("without-where", ["delete-without-where", "update-without-where"]),
    (
      nil,
      [
        "attach", "dependents-read-new-values", "load-extension", "query-needs-newer-release",
        "transaction-control", "vacuum", "waiver-unknown-rule", "waiver-without-reason",
      ]
    ),
  ]
}
