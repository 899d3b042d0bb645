import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// A row to insert.
package struct Insertion: Sendable, Hashable {
  package let table: String
  private var keys: [Identifier] = []
  package private(set) var values: [Value] = []

  package var columns: [String] { keys.map(\.text) }

  package init(_ table: String) {
    self.table = table
  }

  /// The value of a column; case does not matter.
  package subscript(_ column: Identifier) -> Value? {
    get { keys.firstIndex(of: column).map { values[$0] } }
    set {
      switch (keys.firstIndex(of: column), newValue) {
      case (let index?, let value?): values[index] = value
      case (let index?, nil):
        keys.remove(at: index)
        values.remove(at: index)
      case (nil, let value?):
        keys.append(column)
        values.append(value)
      case (nil, nil): break
      }
    }
  }

  package var sql: String {
    guard !keys.isEmpty else { return "INSERT INTO \(Quoting.identifier(table)) DEFAULT VALUES" }
    return "INSERT INTO \(Quoting.identifier(table)) "
      + "(\(columns.map(Quoting.identifier).joined(separator: ", "))) "
      + "VALUES (\(values.map(\.sql).joined(separator: ", ")))"
  }

  /// The row for a sentence: `reminders(id='one', title='Milk')`.
  package var words: String {
    let parts = zip(columns, values).map { "\($0)=\($1.shortLiteral)" }
    return "\(table)(\(parts.joined(separator: ", ")))"
  }
}

extension Value {
  /// A shortened literal for sentences.
  package var shortLiteral: String { shortLiteral(from: 0) }

  /// A shortened literal that shows where the value differs from another one.
  func literal(besides other: Value) -> String {
    let same = zip(sql.utf8, other.sql.utf8).prefix { $0 == $1 }.count
    return shortLiteral(from: same).replacing("\n", with: "⏎")
  }

  /// - Parameter place: the offset of a byte that the result includes.
  private func shortLiteral(from place: Int) -> String {
    let whole = sql
    let most = 40
    guard whole.count > most, whole.hasSuffix("'"), let quote = whole.firstIndex(of: "'") else {
      return whole.shortened
    }
    let content = whole[whole.index(after: quote)...].dropLast()
    let length = most - 6
    let shown = whole.utf8.prefix(place).count < length ? 0 : place - length / 2
    let start = whole.utf8.index(whole.startIndex, offsetBy: shown)
    let tail = shown == 0 ? content : content[Swift.max(start, content.startIndex)...]
    return whole[...quote] + (shown == 0 ? "" : "…") + tail.prefix(length)
      + (tail.count > length ? "…'" : "'")
  }
}
