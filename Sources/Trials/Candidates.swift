import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

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
    var values = column.holdsTimes ? times : usual(column.affinity)
    values += hinted.filter { !isPattern($0) && (column.affinity != .text || $0.text != nil) }
    values += [defaults[column.key]].compactMap { $0 }
    for case .integer(let number) in hinted {
      if column.affinity == .real { values += fractions(near: Double(number)) }
      values += [.integer(number &+ 1), .integer(number &- 1)]
      // A number in the CHECK of a text is usually a length.
      guard column.affinity == .text, (0...300).contains(number) else { continue }
      let lengths = [number, number + 1, number - 1].filter { $0 >= 0 }.map(Int.init)
      values += lengths.map { .text(String(repeating: "x", count: $0)) }
      values += ["X", "7", "Z", "8"].map { .text(String(repeating: $0, count: lengths[0])) }
    }
    for case .real(let number) in hinted {
      values += fractions(near: number) + [.real(number + 1), .real(number - 1)]
    }
    if !hinted.isEmpty || column.affinity == .text { values += forms + patterns(hinted) }
    if column.affinity == .blob { values += hinted.flatMap(bytes) }
    var known: Set<Value> = [.null]
    return values.filter { known.insert($0).inserted }
  }

  private func fractions(near number: Double) -> [Value] {
    [.real(number + 0.123_456_7), .real(number - 0.123_456_7)]
  }

  /// Values for a column that refuses marks, so that its rows differ: first the values in the
  /// CHECK, then values in common formats.
  func distinct(for column: DeviceTable.Column) -> [Value] {
    var known: Set<Value> = [.null]
    let others: [Value] =
      switch column.affinity {
      case .text: moreForms
      case .integer, .numeric: [3, 4, 6, 7, 8, 21, 22, 35, 12_345]
      case .real: [1.234_567, 2.345_678, 0.123_456_7, 0.654_321].map(Value.real)
      case .blob: moreForms
      }
    return (hinted(column) + others + values(for: column)).filter { known.insert($0).inserted }
  }

  /// Bytes of the length that a CHECK contains.
  private func bytes(_ length: Value) -> [Value] {
    guard case .integer(let length) = length, (1...300).contains(length) else { return [] }
    return (1...3).map { .blob([UInt8](repeating: $0, count: Int(length))) }
  }

  /// Texts that match a LIKE or GLOB of a CHECK.
  private func patterns(_ hinted: [Value]) -> [Value] {
    hinted.filter(isPattern).compactMap(\.text).flatMap { text in
      (0..<2).map { .text(filled(text, $0)) }
    }
  }

  private func isPattern(_ value: Value) -> Bool {
    value.text.map { $0.contains(where: "%*[?".contains) || $0.contains("__") } ?? false
  }

  /// Replaces each wildcard by a text, and each class by its first or its last character.
  private func filled(_ pattern: String, _ variant: Int) -> String {
    var (filled, rest) = ("", Substring(pattern))
    while let character = rest.popFirst() {
      switch character {
      case "%", "*": filled += "7 Ab-0\(variant + 1)"
      case "_", "?": filled += variant == 0 ? "a" : "b"
      case "[":
        guard let end = rest.firstIndex(of: "]"), let first = rest.first else { return filled }
        filled.append(variant == 0 ? first : rest[rest.index(before: end)])
        rest = rest[rest.index(after: end)...]
      default: filled.append(character)
      }
    }
    return filled
  }

  private func keys(_ column: DeviceTable.Column) -> [Value] {
    // Apps do not store texts as numeric keys.
    let numbers = (1...8).map { Value.integer($0) }
    let words: [Value] = ["one", "two", "three"]
    let uuids = (1...3).map { Value.text("00000000-0000-4000-8000-00000000000\($0)") }
    let bytes = (1...3).map { Value.blob([UInt8](repeating: UInt8($0), count: 16)) }
    let hinted = hints.values[column.key] ?? []
    return switch column.affinity {
    case .text: words + uuids + hinted
    case .integer, .numeric, .real: numbers + hinted
    case .blob: column.type.isEmpty ? words + bytes + hinted : bytes + words + hinted
    }
  }

  private func usual(_ affinity: Affinity) -> [Value] {
    switch affinity {
    case .text: ["Milk", "Bread", "007", ""]
    case .integer, .numeric: [1, 0, 2]
    case .real: [.real(1.5), .real(2.5), 1, 0]
    case .blob: [.blob([1, 2]), .blob([3]), "Milk"]
    }
  }

  private var times: [Value] {
    [
      "2026-01-01 12:00:00", "2026-01-02 13:14:15", "2027-03-04 05:06:07",
      .integer(ChanceCounter.seconds),
    ]
  }

  /// Formats that CHECKs often require of texts: dates, colours, addresses, JSON, identifiers.
  private var forms: [Value] {
    [
      "2026-01-01", "2026-01-01 12:00:00", "2026-01-01T12:00:00Z", "12:00:00", "12:00", "{}", "[]",
      "#336699", "a@example.org", "https://example.org",
      "00000000-0000-4000-8000-000000000009", "en", "milk", "MILK",
    ]
  }
}

extension Candidates {
  /// Other values of formats that CHECKs often require.
  private var moreForms: [Value] {
    [
      "2027-03-04", "2027-03-04 05:06:07", "2027-03-04T05:06:07Z", "05:06:07", "05:06",
      "{\"a\": 1}", "[1]",
      "[1, 2]", "#aa33cc", "00000000-0000-4000-8000-00000000000a", "de", "oak", "OAK", "O",
    ]
  }

  /// The value of the column in a likely row. Rows 0 to 2 have the same value; each later row has
  /// the next value.
  func likely(_ number: Int, for column: DeviceTable.Column) -> Value {
    let hinted = hinted(column)
    let all = hinted + values(for: column).filter { !hinted.contains($0) }
    return all.isEmpty ? .null : all[max(0, number - 2) % all.count]
  }

  /// The beginnings of a long mark, of the lengths in the CHECKs of the column.
  func beginnings(of mark: Value?, for column: DeviceTable.Column) -> [Value] {
    guard let text = mark?.text, text.utf8.count > 1000 else { return [] }
    return (hints.values[column.key] ?? []).compactMap(\.integer).flatMap { [$0, $0 - 1] }
      .filter { (20..<Int64(text.count)).contains($0) }
      .map { .text(String(text.prefix(Int($0)))) }
  }

  /// The values in the CHECKs of the column that may be values of the column.
  func hinted(_ column: DeviceTable.Column) -> [Value] {
    (hints.values[column.key] ?? []).filter { value in
      guard !isPattern(value) else { return false }
      return switch (value, column.affinity) {
      case (.text, .text), (.text, .blob), (.blob, .blob): true
      case (.integer, .integer), (.integer, .numeric), (.integer, .real): true
      case (.real, .real), (.real, .numeric): true
      default: false
      }
    }
  }
}
