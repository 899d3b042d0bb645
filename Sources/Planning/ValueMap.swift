import SchemaManifest
import SchemaSQLText

/// The `map` of a `move_column`, as SQL over a column.
///
/// Keys match by storage class and byte for byte: the unary plus takes the column's affinity off,
/// COLLATE BINARY its collation (Datatypes In SQLite, sections 4.2 and 7.1).
///
/// `holds` is in the text of `mirror`'s triggers, and so in fingerprints, which locks and ledgers
/// keep for ever: its result must never change.
struct ValueMap {
  /// The column, quoted.
  let column: String
  let entries: [MappedValue]

  /// True for rows that hold `literal`.
  func holds(_ literal: Literal) -> String {
    if case .null = literal { return "\(column) IS NULL" }
    let storage = Quoting.stringLiteral(literal.storageClass ?? "")
    return "(typeof(\(column)) = \(storage) AND +\(column) COLLATE BINARY IS \(literal.sql))"
  }

  /// True for rows whose value no key names.
  var isUnmapped: String {
    // Integers are by far the most common keys, and IN over a list of them is the fastest filter.
    let integers = entries.compactMap { entry -> String? in
      if case .integer = entry.from { entry.from.sql } else { nil }
    }
    var tests: [String] = []
    if !integers.isEmpty {
      tests.append(
        "(typeof(\(column)) = 'integer' AND +\(column) IN (\(integers.joined(separator: ", "))))")
    }
    for entry in entries {
      if case .integer = entry.from { continue }
      tests.append(holds(entry.from))
    }
    // Each test is true or false, never NULL, because typeof() never is.
    return "NOT (\(tests.joined(separator: " OR ")))"
  }

  /// True for rows that hold `literal`, once it is certain that every value has a key: where all keys are
  /// integers, the storage class is not compared.
  func holdsKey(_ literal: Literal) -> String {
    let isAmongIntegers = entries.allSatisfy { ["integer", "null"].contains($0.from.storageClass) }
    guard case .integer = literal, isAmongIntegers else { return holds(literal) }
    return "+\(column) IS \(literal.sql)"
  }

  /// The new value of a row, once it is certain that every value has a key.
  var value: String {
    "CASE "
      + entries.map { "WHEN \(holdsKey($0.from)) THEN \($0.to.sql)" }.joined(separator: " ")
      + " END"
  }

  /// True for rows whose new value differs from the old one, once it is certain that every value has a
  /// key; nil when the map changes nothing.
  var changes: String? {
    let changed = entries.filter { $0.from != $0.to }
    return changed.isEmpty ? nil : changed.map { holdsKey($0.from) }.joined(separator: " OR ")
  }
}
