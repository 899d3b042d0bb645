import SchemaSQLText

/// A difference between a schema and the expected one.
package struct SchemaChange: Sendable, Equatable {
  package enum Kind: String, Sendable, Hashable {
    case table, column, constraint, index, view, trigger
    /// The order of a table's columns.
    case columnOrder = "column-order"
    /// The names differ only in case.
    case spelling
  }

  package enum Change: String, Sendable, Hashable {
    /// The object is expected and does not exist.
    case missing
    /// The object exists and is not expected.
    case unexpected
    case changed
  }

  package let kind: Kind
  /// `reminders`, `reminders.status`, or the name of an index, a view or a trigger.
  package let object: String
  package let change: Change
  /// The expected definition on one line.
  package let expected: String?
  /// The actual definition on one line.
  package let actual: String?
  /// The object of `sqlite_schema` with the difference; for a column its table.
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

  /// Describes the change: `column reminders.status is missing (status INTEGER)`.
  package var sentence: String {
    switch change {
    case .missing: "\(subject) is missing (\(expected ?? ""))"
    case .unexpected: "\(subject) is not in the history (\(actual ?? ""))"
    case .changed:
      "\(subject) differs: expected \(expected ?? "nothing"), found \(actual ?? "nothing")"
    }
  }

  /// The object of the change: `column reminders.status`.
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
