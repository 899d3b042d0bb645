import SchemaSQLText

/// Compares a live schema with the expected one. Quoting, case, white space, comments and inline
/// constraints make a difference only if they do in SQLite. Objects of SQLite and shadow tables of
/// virtual tables are not compared.
package func compareSchemas(expected: Schema, actual: Schema) -> [SchemaChange] {
  Comparison(
    expected: expected.ours().withoutShadowTables(), actual: actual.ours().withoutShadowTables()
  ).changes
}

private struct Comparison {
  let expected: Schema
  let actual: Schema

  var changes: [SchemaChange] {
    var unexpected: [SchemaDelta.Key: SchemaObject] = [:]
    for object in actual.objects { unexpected[object.key] = object }
    var changes: [SchemaChange] = []
    for object in expected.objects {
      guard let live = unexpected.removeValue(forKey: object.key) else {
        changes.append(SchemaChange(object, .missing, expected: object.oneLine))
        continue
      }
      if object.name != live.name {
        changes.append(spelling(object.name, live.name, at: object.name, in: object.name))
      }
      if object.sql != live.sql { changes += differences(object, live) }
    }
    // In stored order, so that the result does not depend on hashing.
    for object in actual.objects where unexpected[object.key] != nil {
      changes.append(SchemaChange(object, .unexpected, actual: object.oneLine))
    }
    return changes
  }

  private func differences(_ object: SchemaObject, _ live: SchemaObject) -> [SchemaChange] {
    let (old, new) = (object.tokens, live.tokens)
    if let before = object.createTable, let after = live.createTable {
      let names = KnownNames(of: [before, after])
      return TableComparison(
        table: object.name, expected: TableForm(before, old, names),
        actual: TableForm(after, new, names)
      ).changes
    }
    let names = KnownNames([expected, actual], and: [old, new])
    guard definitionForm(old, names) == definitionForm(new, names) else {
      return [
        SchemaChange(object, .changed, expected: object.oneLine, actual: live.oneLine)
      ]
    }
    // The definitions are equal, but white space and case are significant in names of a view's
    // columns.
    return zip(object.resultTexts(old), live.resultTexts(new)).filter { $0 != $1 }.map {
      let expected = String(decoding: $0, as: UTF8.self)
      return spelling(
        expected, String(decoding: $1, as: UTF8.self), at: "\(object.name).\(expected)",
        in: object.name)
    }
  }
}

private struct TableComparison {
  let table: String
  let expected: TableForm
  let actual: TableForm

  var changes: [SchemaChange] {
    var changes = columnChanges + constraintChanges
    if expected.options != actual.options {
      changes.append(
        SchemaChange(
          .table, table, .changed, expected: expected.options, actual: actual.options))
    }
    return changes
  }

  private var columnChanges: [SchemaChange] {
    let live = Dictionary(
      actual.columns.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    let common = Set(expected.columns.map(\.key)).intersection(live.keys)
    var changes = expected.columns.flatMap { column in
      live[column.key].map { differences(column, $0) } ?? [
        SchemaChange(
          .column, path(column), .missing, expected: column.text, in: table)
      ]
    }
    changes += actual.columns.filter { !common.contains($0.key) }.map {
      SchemaChange(.column, path($0), .unexpected, actual: $0.text, in: table)
    }
    let order = expected.columns.filter { common.contains($0.key) }
    let liveOrder = actual.columns.filter { common.contains($0.key) }
    if order.map(\.key) != liveOrder.map(\.key) {
      changes.append(
        SchemaChange(
          .columnOrder, table, .changed, expected: order.map(\.name).joined(separator: ", "),
          actual: liveOrder.map(\.name).joined(separator: ", ")))
    }
    return changes
  }

  private func differences(
    _ column: TableForm.Column, _ live: TableForm.Column
  ) -> [SchemaChange] {
    var changes: [SchemaChange] = []
    if column.name != live.name {
      changes.append(spelling(column.name, live.name, at: path(column), in: table))
    }
    if column.form != live.form {
      changes.append(
        SchemaChange(
          .column, path(column), .changed, expected: column.text, actual: live.text, in: table))
    }
    return changes
  }

  private func path(_ column: TableForm.Column) -> String { "\(table).\(column.name)" }

  /// A removed constraint and a new one of the same kind are reported as one change.
  private var constraintChanges: [SchemaChange] {
    var new = constraints(of: actual, notIn: expected)
    var gone: [TableForm.Constraint] = []
    for constraint in constraints(of: expected, notIn: actual) {
      if let index = new.firstIndex(where: { $0.form == constraint.form }) {
        new.remove(at: index)
      } else {
        gone.append(constraint)
      }
    }
    var changes: [SchemaChange] = []
    for constraint in gone {
      if let index = new.firstIndex(where: { $0.form.first == constraint.form.first }) {
        changes.append(
          SchemaChange(
            .constraint, table, .changed, expected: constraint.text,
            actual: new.remove(at: index).text))
      } else {
        changes.append(SchemaChange(.constraint, table, .missing, expected: constraint.text))
      }
    }
    return changes
      + new.map { SchemaChange(.constraint, table, .unexpected, actual: $0.text) }
  }

  /// Excludes constraints in the definition of a column that the other table lacks.
  private func constraints(of form: TableForm, notIn other: TableForm) -> [TableForm.Constraint] {
    let columns = Set(other.columns.map(\.key))
    return form.constraints.filter { constraint in
      constraint.column.map { columns.contains($0.identifier) } ?? true
    }
  }
}

private func spelling(
  _ expected: String, _ actual: String, at object: String, in holder: String
) -> SchemaChange {
  SchemaChange(.spelling, object, .changed, expected: expected, actual: actual, in: holder)
}

extension TableForm.Column {
  fileprivate var key: Identifier { name.identifier }
}

extension SchemaObject {
  /// The definition on one line, for messages.
  fileprivate var oneLine: String {
    tokens.oneLine(in: 0..<tokens.bytes.count)
  }
}

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
    /// The object is expected, but does not exist.
    case missing
    /// The object exists, but is not expected.
    case unexpected
    case changed
  }

  package let kind: Kind
  /// `reminders`, `reminders.status`, or the name of an index, a view or a trigger.
  package let object: String
  package let change: Change
  /// The expected definition on one line; nil for a table without options such as `STRICT`.
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

  init(_ object: SchemaObject, _ change: Change, expected: String? = nil, actual: String? = nil) {
    let kind: Kind =
      switch object.kind {
      case .table: .table
      case .index: .index
      case .view: .view
      case .trigger: .trigger
      }
    self.init(kind, object.name, change, expected: expected, actual: actual)
  }

  /// Describes the change: "column `reminders.status` is missing: `status INTEGER`".
  package var sentence: String {
    func quoted(_ definition: String?) -> String {
      definition.map { "`\($0)`" } ?? "no table option"
    }
    return switch change {
    case .missing: "\(subject) is missing: \(quoted(expected))"
    case .unexpected: "\(subject) is not in the history: \(quoted(actual))"
    case .changed: "\(subject) differs: expected \(quoted(expected)), found \(quoted(actual))"
    }
  }

  /// The object of the change: "column `reminders.status`".
  package var subject: String {
    switch kind {
    case .columnOrder: "the column order of `\(object)`"
    case .spelling: "the spelling of `\(object)`"
    case .constraint: "a constraint of `\(object)`"
    case .table, .column, .index, .view, .trigger: "\(kind.rawValue) `\(object)`"
    }
  }
}
