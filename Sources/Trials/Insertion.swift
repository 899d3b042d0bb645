import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A row to insert.
package struct Insertion: Sendable, Hashable {
  package let table: String
  package private(set) var columns: [String] = []
  package private(set) var values: [Value] = []

  package init(_ table: String) {
    self.table = table
  }

  /// The value of a column; case does not matter.
  package subscript(_ column: Identifier) -> Value? {
    columns.firstIndex { $0.identifier == column }.map { values[$0] }
  }

  package subscript(_ column: String) -> Value? {
    get { self[column.identifier] }
    set {
      let key = column.identifier
      let index = columns.firstIndex { $0.identifier == key }
      switch (index, newValue) {
      case (let index?, let value?): values[index] = value
      case (let index?, nil):
        columns.remove(at: index)
        values.remove(at: index)
      case (nil, let value?):
        columns.append(column)
        values.append(value)
      case (nil, nil): break
      }
    }
  }

  package var sql: String {
    guard !columns.isEmpty else { return "INSERT INTO \(Quoting.identifier(table)) DEFAULT VALUES" }
    return "INSERT INTO \(Quoting.identifier(table)) "
      + "(\(columns.map(Quoting.identifier).joined(separator: ", "))) "
      + "VALUES (\(values.map(\.literal).joined(separator: ", ")))"
  }

  /// `reminders(id='one', title='Milk')`.
  package var words: String {
    let parts = zip(columns, values).map { "\($0)=\($1.shortLiteral)" }
    return "\(table)(\(parts.joined(separator: ", ")))"
  }
}

extension Value {
  /// The value as an SQL literal.
  package var literal: String { Literal(self).sql }

  /// A shortened literal for sentences.
  package var shortLiteral: String {
    literal.count > 40 ? "\(literal.prefix(36))…" : literal
  }
}
