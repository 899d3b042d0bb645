import SQLText

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
  package let expected: String?
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

  /// For a person: `column reminders.status is missing`.
  package var sentence: String {
    let what = kind == .columnOrder ? "the column order of" : kind == .spelling
      ? "the spelling of" : kind == .constraint ? "a constraint of" : kind.rawValue
    switch change {
    case .missing: return "\(what) \(object) is missing (\(expected ?? ""))"
    case .unexpected: return "\(what) \(object) is not of the history (\(actual ?? ""))"
    case .changed:
      return "\(what) \(object) differs: expected \(expected ?? "nothing"), found "
        + (actual ?? "nothing")
    }
  }
}

/// Holds a live schema against the one that is expected. Quoting, case of keywords, white space,
/// comments and whether a constraint stands inline make no difference.
package func compareSchemas(expected: Schema, actual: Schema) -> [SchemaChange] {
  let ours = actual.ours()
  let theirs = expected.ours()
  var known: [SchemaDelta.Key: SchemaObject] = [:]
  for object in ours.objects { known[SchemaDelta.Key(object)] = object }
  var changes: [SchemaChange] = []
  for object in theirs.objects {
    guard let live = known.removeValue(forKey: SchemaDelta.Key(object)) else {
      changes.append(
        SchemaChange(object.kind.change, object.name, .missing, expected: object.oneLine))
      continue
    }
    if object.name != live.name {
      changes.append(
        SchemaChange(
          .spelling, object.name, .changed, expected: object.name, actual: live.name))
    }
    if !object.readsLike(live) { changes += differences(object, live) }
  }
  // In the order in which they stand, so that the result does not depend on hashing.
  for object in ours.objects where known[SchemaDelta.Key(object)] != nil {
    changes.append(
      SchemaChange(object.kind.change, object.name, .unexpected, actual: object.oneLine))
  }
  return changes
}

private func differences(_ expected: SchemaObject, _ live: SchemaObject) -> [SchemaChange] {
  guard expected.kind == .table, let old = expected.sql.flatMap(TableForm.init),
    let new = live.sql.flatMap(TableForm.init)
  else {
    return [
      SchemaChange(
        expected.kind.change, expected.name, .changed, expected: expected.oneLine,
        actual: live.oneLine)
    ]
  }
  let table = expected.name
  var changes = columnDifferences(table, old.columns, new.columns)
  changes += constraintDifferences(table, old.constraints, new.constraints)
  if old.options != new.options {
    changes.append(
      SchemaChange(
        .table, table, .changed, expected: old.options.joined(separator: ", "),
        actual: new.options.joined(separator: ", ")))
  }
  return changes
}

private func columnDifferences(
  _ table: String, _ old: [TableForm.Column], _ new: [TableForm.Column]
) -> [SchemaChange] {
  var changes: [SchemaChange] = []
  var common: [(TableForm.Column, TableForm.Column)] = []
  for column in old {
    let object = "\(table).\(column.name)"
    let key = column.name.asciiLowercased
    guard let live = new.first(where: { $0.name.asciiLowercased == key }) else {
      changes.append(SchemaChange(.column, object, .missing, expected: column.text, in: table))
      continue
    }
    common.append((column, live))
    if column.name != live.name {
      changes.append(
        SchemaChange(
          .spelling, object, .changed, expected: column.name, actual: live.name, in: table))
    }
    if column.clauses != live.clauses {
      changes.append(
        SchemaChange(
          .column, object, .changed, expected: column.text, actual: live.text, in: table))
    }
  }
  let names = Set(common.map(\.1.name))
  for column in new where !names.contains(column.name) {
    changes.append(
      SchemaChange(
        .column, "\(table).\(column.name)", .unexpected, actual: column.text, in: table))
  }
  let expectedOrder = common.map(\.1.name)
  let order = new.map(\.name).filter(names.contains)
  if expectedOrder != order {
    changes.append(
      SchemaChange(
        .columnOrder, table, .changed, expected: expectedOrder.joined(separator: ", "),
        actual: order.joined(separator: ", ")))
  }
  return changes
}

private func constraintDifferences(
  _ table: String, _ old: [TableForm.Constraint], _ new: [TableForm.Constraint]
) -> [SchemaChange] {
  var left = new
  var changes: [SchemaChange] = []
  for constraint in old {
    if let index = left.firstIndex(where: { $0.form == constraint.form }) {
      left.remove(at: index)
    } else {
      changes.append(SchemaChange(.constraint, table, .missing, expected: constraint.text))
    }
  }
  return changes
    + left.map { SchemaChange(.constraint, table, .unexpected, actual: $0.text) }
}

extension SchemaObject.Kind {
  fileprivate var change: SchemaChange.Kind {
    switch self {
    case .table: .table
    case .index: .index
    case .view: .view
    case .trigger: .trigger
    }
  }
}

extension SchemaObject {
  /// The definition on one line, for messages.
  fileprivate var oneLine: String {
    let tokens = TokenizedSQL(sql ?? "")
    return tokens.tokens.map { token in
      token.kind == .whitespace ? " " : token.kind == .comment ? "" : tokens.text(token)
    }.joined()
  }
}
