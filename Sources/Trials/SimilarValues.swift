import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Value {
  /// Values of the same type. Some differ only slightly.
  var similar: [Value] {
    switch self {
    case .integer:
      [
        8_200_001, 8_200_002, 8_200_003, 9_300_000, 9_200_001, 8_200_777, 1_099_519_827_777,
        -8_200_001, -9_200_001, -9_300_000,
      ]
    // Floating-point: 4.35 * 100 is less than 435.
    case .real: [7.1, 7.12, 7.35, 42.5, 7.25, -7.25, -7.5, 4.35, 4.34].map(Value.real)
    case .text:
      // An ordinary text comes first, because messages name it.
      [
        "K", "007", "7", "9300000", "Zebra abc", "ZEBRA ABC", "Zebra ", "Zebra", " Zebra", "Xebra",
        "Ze\nbra", "Ze bra",
      ]
    case .blob: [.blob([9])]
    case .null: []
    }
  }

  /// Groups of long values of the same type and length, the longest first. The values of a group differ only
  /// at the end, at the beginning or in the middle.
  var longGroups: [[Value]] {
    func group<Unit>(_ units: [Unit], _ other: Unit) -> [[Unit]] {
      [units]
        + [units.count - 1, 0, units.count / 2].map { place in
          var changed = units
          changed[place] = other
          return changed
        }
    }
    return switch self {
    case .text:
      [11_000, 2000, 200, 90, 45, 18].map { length in
        let text = String(repeating: "Zebra", count: length / 5 + 1).prefix(length)
        return group(Array(text), "k").map { .text(String($0)) }
      }
    case .blob:
      [11_000, 300].map { group([UInt8](repeating: 8, count: $0), 1).map(Value.blob) }
    default: []
    }
  }

  /// Values with a small difference, of the same length and form. A CHECK that accepts the value probably
  /// accepts some of them.
  var variants: [Value] {
    switch self {
    case .integer(let number):
      (-3...7).filter { $0 != 0 }.map { .integer(number &+ $0) } + (0...13).map { .integer($0) }
    case .text(let text):
      [text, text.uppercased(), text.lowercased(), text + "?b", text + "?c"].map(Value.text)
        // A space after JSON has no meaning.
        + (text.hasPrefix("{") || text.hasPrefix("[") ? [] : [.text(text + " ")])
        + [1, 2, 3, 5, 8, text.count - 1, text.count].compactMap {
          text.changed($0).map(Value.text)
        }
        + [text, text.changed(text.count) ?? text].flatMap { text in
          [3, text.count / 2].map { place in
            .text(text.prefix(place) + " " + text.dropFirst(place))
          }
        }
    // Hundredths: a conversion to an integer may change the unit.
    case .real(let number):
      [0.25, 0.26, 0.31, 0.75, 0, 1].map { .real(number.rounded(.down) + $0) }
    default: []
    }
  }

  /// Values in formats that marks do not have, such as dates and JSON. Some values of a format differ
  /// only in a part.
  static let formats: [[Value]] = [
    [
      "2026-01-02 03:04:05", "2026-01-02 23:14:45", "2027-06-07 08:09:10", "2026-01-02 03:04:45",
      "2027-06-07 03:04:05",
    ],
    ["{\"a\": 1, \"b\": 1}", "{\"a\": 1, \"b\": 2}", "{\"a\": 2, \"b\": 1}"],
    ["[2]", "[2, 3]", "[3]", "[4]"], ["{\"a\": 1}", "[2]"],
    ["2026-01-02T03:04:05Z", "2027-06-07T08:09:10Z"],
  ]
}

extension String {
  /// The text with another digit or letter at this place before its end, or at the next one there.
  fileprivate func changed(_ place: Int) -> String? {
    guard 0 < place, place <= count else { return nil }
    let start = dropLast(place - 1).lastIndex { $0.isASCII && ($0.isLetter || $0.isNumber) }
    guard let index = start else { return nil }
    let other: Character =
      switch self[index] {
      case "1": "2"
      case "0"..."9": "1"
      case "b", "B": self[index] == "b" ? "a" : "A"
      default: self[index].isLowercase ? "b" : "B"
      }
    return self[..<index] + String(other) + self[self.index(after: index)...]
  }
}

extension Experiment {
  /// Changes that set the index's columns to their defaults. The texts that the migration updates before it
  /// creates the index become distinct, but similar, or NULL, so that the update may make them equal.
  ///
  /// - Parameter tables: other names that the index's table may have had.
  func resets(
    of index: CreatedUniqueIndex, updated: Set<Identifier>, or tables: Set<Identifier>
  ) -> [Change] {
    let table = ([index.table.identifier] + tables.sorted()).lazy
      .compactMap { self.database.tables[$0] }.first
    return index.columns.flatMap { name -> [Change] in
      guard let table, let column = name.flatMap(table.shape.column) else { return [] }
      func reset(to value: String, where address: String) -> Change {
        .reset(table: table.shape.name, address: address, column: column.name, value: value)
      }
      guard updated.contains(column.key), column.affinity == .text else {
        return [reset(to: column.defaultText ?? "NULL", where: "1")]
      }
      return table.rows.enumerated().map { number, row in
        let text = "Ab \(number / 4)"
        let similar = [text, text.lowercased(), text + " ", text.replacing(" ", with: "")]
        // Two rows have NULL.
        let value = number + 2 < table.rows.count ? Value.text(similar[number % 4]) : .null
        return reset(to: value.sql, where: row.address)
      }
    }
  }
}
