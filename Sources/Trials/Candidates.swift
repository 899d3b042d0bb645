import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Values to try for a column. SQLite decides whether the column accepts them.
package struct Candidates: Sendable {
  package let hints: ValueHints
  /// The value of each DEFAULT, by folded column name.
  package let defaults: [Identifier: Value]

  package init(
    _ table: DeviceTable, hints: ValueHints, _ connection: Connection
  ) throws(DatabaseError) {
    self.hints = hints
    var defaults: [Identifier: Value] = [:]
    for column in table.columns {
      guard let text = column.defaultText else { continue }
      do {
        defaults[column.key] = try connection.value("SELECT \(text)")
      } catch  where !error.isFault {}
    }
    self.defaults = defaults
  }

  /// The most likely values first, without duplicates.
  package func values(for column: DeviceTable.Column) -> [Value] {
    if column.isInKey { return keys(column) }
    let hinted = hints.values[column.key] ?? []
    var values = usual(column.affinity)
    values += hinted.filter { column.affinity != .text || $0.text != nil }
    values += [defaults[column.key]].compactMap { $0 }
    for case .integer(let number) in hinted {
      values += [.integer(number &+ 1), .integer(number &- 1)]
      // A number in the CHECK of a text is usually a length.
      guard column.affinity == .text, (0...300).contains(number) else { continue }
      values += [number, number + 1, number - 1].filter { $0 >= 0 }.map { length in
        .text(String(repeating: "x", count: Int(length)))
      }
    }
    for case .real(let number) in hinted { values += [.real(number + 1), .real(number - 1)] }
    if !hinted.isEmpty || column.affinity == .text { values += patterns(hinted) + forms }
    var known: Set<Value> = [.null]
    return values.filter { known.insert($0).inserted }
  }

  /// Texts that match a LIKE or GLOB of a CHECK.
  private func patterns(_ hinted: [Value]) -> [Value] {
    hinted.compactMap(\.text).filter { $0.contains(where: "%*".contains) }.map { text in
      .text(
        text.reduce(into: "") { filled, character in
          switch character {
          case "%", "*": filled += "7001"
          case "_", "?": filled += "a"
          default: filled.append(character)
          }
        })
    }
  }

  private func keys(_ column: DeviceTable.Column) -> [Value] {
    let numbers = (1...3).map { Value.integer($0) }
    let words: [Value] = ["one", "two", "three"]
    let uuids = (1...3).map { Value.text("00000000-0000-4000-8000-00000000000\($0)") }
    let bytes = (1...3).map { Value.blob([UInt8](repeating: UInt8($0), count: 16)) }
    let hinted = hints.values[column.key] ?? []
    return switch column.affinity {
    case .text: words + uuids + hinted
    case .integer, .numeric, .real: numbers + words + hinted
    case .blob: column.type.isEmpty ? words + bytes + hinted : bytes + words + hinted
    }
  }

  private func usual(_ affinity: Affinity) -> [Value] {
    switch affinity {
    case .text: ["Milk", "Bread", "007", ""]
    case .integer, .numeric: [1, 0, 2]
    case .real: [.real(1.5), .real(2.5), 1]
    case .blob: [.blob([1, 2]), .blob([3]), "Milk"]
    }
  }

  /// Formats that CHECKs often require of texts: dates, colours, addresses, JSON, identifiers.
  private var forms: [Value] {
    [
      "2026-01-01", "2026-01-01 12:00:00", "2026-01-01T12:00:00Z", "12:00:00", "{}", "[]",
      "#336699", "a@example.org", "https://example.org",
      "00000000-0000-4000-8000-000000000009", "en", "milk", "MILK",
    ]
  }
}

extension Candidates {
  /// Values that a column with a CHECK probably accepts: those in the CHECK.
  func likely(for column: DeviceTable.Column) -> [Value] {
    let hinted = hinted(column)
    return hinted.isEmpty ? values(for: column) : hinted
  }

  /// The value of a row's column: the same value in three rows, then each of the others.
  func likely(_ number: Int, for column: DeviceTable.Column) -> Value {
    let hinted = hinted(column)
    let all = hinted + values(for: column).filter { !hinted.contains($0) }
    return all.isEmpty ? .null : all[max(0, number - 2) % all.count]
  }

  private func hinted(_ column: DeviceTable.Column) -> [Value] {
    (hints.values[column.key] ?? []).filter { value in
      switch (value, column.affinity) {
      case (.text, .text), (.text, .blob), (.blob, .blob): true
      case (.integer, .integer), (.integer, .numeric), (.integer, .real): true
      case (.real, .real), (.real, .numeric): true
      default: false
      }
    }
  }
}
