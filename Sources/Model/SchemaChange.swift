import SchemaSQLText

/// One way in which a schema differs from the one that was expected.
package struct SchemaChange: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case table, column, constraint, index, view, trigger
    /// The order of a table's columns.
    case columnOrder = "column-order"
    /// A name that differs in the case of its letters.
    case spelling
  }

  package enum Change: String, Sendable, Hashable {
    /// Expected, and not there.
    case missing
    /// There, and not expected.
    case unexpected
    case changed
  }

  package let kind: Kind
  /// `reminders`, `reminders.status`, or the name of an index, a view or a trigger.
  package let object: String
  package let change: Change
  /// What was expected, on one line.
  package let expected: String?
  /// What is there, on one line.
  package let actual: String?
  /// The object of `sqlite_schema` that differs: for a column its table.
  package let holder: String

  init(
    _ kind: Kind, _ object: String, _ change: Change, expected: String? = nil,
    actual: String? = nil, in holder: String? = nil
  ) {
    self.kind = kind
    self.object = object
    self.change = change
    self.expected = expected
    self.actual = actual
    self.holder = holder ?? object
  }

  /// For a person: `column reminders.status is missing (status INTEGER)`.
  package var sentence: String {
    switch change {
    case .missing: "\(subject) is missing (\(expected ?? ""))"
    case .unexpected: "\(subject) is not in the history (\(actual ?? ""))"
    case .changed:
      "\(subject) differs: expected \(expected ?? "nothing"), found \(actual ?? "nothing")"
    }
  }

  /// What differs: `column reminders.status`.
  package var subject: String {
    switch kind {
    case .columnOrder: "the column order of \(object)"
    case .spelling: "the spelling of \(object)"
    case .constraint: "a constraint of \(object)"
    case .table, .column, .index, .view, .trigger: "\(kind.rawValue) \(object)"
    }
  }
}

extension SchemaObject.Kind {
  var change: SchemaChange.Kind {
    switch self {
    case .table: .table
    case .index: .index
    case .view: .view
    case .trigger: .trigger
    }
  }
}
