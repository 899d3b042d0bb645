import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The triggers of `mirror`. They keep two columns of one table in step while an older version of the app
/// writes the old column and a newer version writes the new one.
///
/// A row is in step if `map` turns its old column's value into its new column's value, or if `map_back` does
/// the reverse. A trigger acts only on a row that is not in step, and leaves it in step. So a trigger never
/// reacts to a write of another one, nor to its own under `recursive_triggers`.
struct Mirror {
  private let table: ParsedTable
  private let schema: Schema
  private let old: Side
  private let new: Side
  private let row: String

  /// - Parameter table: the table with both columns.
  init(
    _ move: MoveColumn, on table: ParsedTable, in schema: Schema
  ) throws {
    guard case .map(let map) = move.mapping else {
      throw PlanningError(
        "`mirror` needs `map`: schemactl cannot invert an expression", key: "mirror")
    }
    guard let row = table.rowOfTrigger else {
      throw PlanningError(
        "schemactl cannot mirror `\(table.name)`: its columns hide every name of the rowid",
        kind: .failed,
        key: "mirror")
    }
    self.table = table
    self.schema = schema
    self.row = row
    let old = try StoredColumn(move.from, of: table)
    let new = try StoredColumn(move.to.name, of: table)
    try old.requireStorable(move.mapBack, of: "map_back")
    try new.requireStorable(map, of: "map")
    let missing = move.to.listedValues?.first { value in !move.mapBack.contains { $0.from == value }
    }
    if let missing {
      throw PlanningError(
        "`map_back` does not name \(missing.sql), which the CHECK of `\(new.name)` accepts: an older version of "
          + "the app would keep another value in `\(old.name)`", key: "map_back")
    }
    self.old = Side(
      name: old.name, initial: old.initial, others: map, affinity: old.affinity)
    self.new = Side(
      name: new.name, initial: new.initial, others: move.mapBack, affinity: new.affinity)
    try requireDefaultsInStep(old.isRequired || new.isRequired)
  }

  /// The CREATE TRIGGER statements. Their text must never change: it is part of fingerprints, which locks and
  /// ledgers keep for ever.
  var triggers: [String] {
    // An INSERT may have left out a column that contains its default, so the other column decides. If both
    // contain their defaults, the new column decides if `map_back` names its default, else the old one.
    let speaks = new.other(of: new.initial) != nil
    let isNewer = speaks ? ["(NOT \(new.isInitial) OR \(old.isInitial))"] : []
    let isOlder = [new.isInitial] + (speaks ? ["NOT \(old.isInitial)"] : [])
    let cases = [
      (on: "insert", from: new, to: old, when: isNewer),
      (on: "insert", from: old, to: new, when: isOlder),
      (on: "update", from: new, to: old, when: ["NOT \(new.isUnchanged)"]),
      (on: "update", from: old, to: new, when: ["NOT \(old.isUnchanged)", new.isUnchanged]),
    ]
    var taken = schema.objects.filter { $0.kind == .trigger }.map(\.name.identifier)
    return cases.map { event, from, to, conditions in
      let name = free("mirror_\(table.name)_\(from.name)_to_\(to.name)_on_\(event)", taken)
      taken.append(name.identifier)
      let columns = event == "update" ? "UPDATE OF \(Quoting.quoted(from.name))" : "INSERT"
      return """
        CREATE TRIGGER \(Quoting.quoted(name)) AFTER \(columns) ON \(Quoting.quoted(table.name))
        WHEN \((conditions + [from.isNamed]).joined(separator: "\n  AND "))
          AND NOT (\(isInStep))
        BEGIN
          UPDATE \(Quoting.quoted(table.name))
          SET \(Quoting.quoted(to.name)) = \(from.othersValue)
          WHERE \(row) AND \(from.isStill) AND \(to.isStill);
        END
        """
    }
  }

  private var isInStep: String {
    let forth = old.others.map { (old: $0.from, new: $0.to) }
    let back = new.others.map { (old: $0.to, new: $0.from) }
      .filter { pair in !forth.contains { $0 == pair } }
    return (forth + back).map { "\(old.holds($0.old)) AND \(new.holds($0.new))" }
      .joined(separator: "\n    OR ")
  }

  /// Refuses defaults that do not agree: after an INSERT that names neither column, the new column's default
  /// would replace the old column's default. A default may replace NULL.
  ///
  /// - Parameter isNamed: whether every INSERT must name one of the columns.
  private func requireDefaultsInStep(_ isNamed: Bool) throws {
    let forth = old.other(of: old.initial)
    guard !isNamed, forth != nil || old.initial != .null, forth != new.initial,
      let back = new.other(of: new.initial), back != old.initial
    else { return }
    throw PlanningError(
      "an INSERT that names neither column stores \(old.initial.sql) in `\(old.name)` and "
        + "\(new.initial.sql) in `\(new.name)`, which do not agree: "
        + (forth.map { "give `\(new.name)` the default \($0.sql)" }
          ?? "add \(old.initial.sql) to `map`"),
      key: forth == nil ? "map" : "to")
  }
}

/// The name, with a number appended if another trigger has it.
private func free(_ name: String, _ taken: [Identifier]) -> String {
  let candidates = (1...).lazy.map { $0 == 1 ? name : "\(name)_\($0)" }
  return candidates.first { !taken.contains($0.identifier) } ?? name
}

extension Mirror {
  /// One of the two columns, as conditions on the row that fired a trigger.
  fileprivate struct Side {
    let name: String
    /// The value of the column after an INSERT that does not name it.
    let initial: Value
    /// The value of the other column for each value of this one.
    let others: [MappedValue]
    /// The affinity of the column; nil if it has a collation, under which different values may be equal.
    let affinity: Affinity?

    private var now: String { "NEW.\(Quoting.quoted(name))" }
    private var before: String { "OLD.\(Quoting.quoted(name))" }

    /// SQL that is true if the column contains the value, compared like the keys of the map: by storage class
    /// and byte for byte. IS alone is enough if the column stores every value that equals this one in the
    /// same way.
    func holds(_ value: Value) -> String {
      isComparable(value)
        ? "\(now) IS \(value.sql)" : ValueMap(column: now, entries: []).holds(value)
    }

    private func isComparable(_ value: Value) -> Bool {
      switch value {
      case .null: true
      case .integer: affinity == .integer
      case .text: affinity == .text
      case .real, .blob: false
      }
    }

    var isInitial: String { holds(initial) }

    var isUnchanged: String { isSame(now, before) }

    /// SQL that is true if the column still contains the value that was written. Another trigger may have
    /// written the row since; that write has fired the triggers of `mirror` itself.
    var isStill: String { isSame(Quoting.quoted(name), now) }

    private func isSame(_ a: String, _ b: String) -> String {
      affinity == .integer || affinity == .text
        ? "\(a) IS \(b)" : "(typeof(\(a)) = typeof(\(b)) AND +\(a) COLLATE BINARY IS +\(b))"
    }

    var isNamed: String {
      let isListed = others.allSatisfy { isComparable($0.from) && $0.from != .null }
      return isListed
        ? "\(now) IN (\(others.map(\.from.sql).joined(separator: ", ")))"
        : "(\(others.map { holds($0.from) }.joined(separator: " OR ")))"
    }

    var othersValue: String {
      "CASE" + others.map { "\n    WHEN \(holds($0.from)) THEN \($0.to.sql)" }.joined() + "\n  END"
    }

    func other(of value: Value) -> Value? { others.first { $0.from == value }?.to }
  }
}

/// A column that `mirror` writes, and a private table with one row that shows how SQLite stores a value in
/// it.
private struct StoredColumn {
  let name: String
  /// The value of the column after an INSERT that does not name it.
  let initial: Value
  /// Whether SQLite refuses such an INSERT.
  let isRequired: Bool
  /// The affinity of the column; nil if it has a collation.
  let affinity: Affinity?
  private let isNotNull: Bool
  private let probe: Connection

  init(_ name: String, of table: ParsedTable) throws {
    let column = try table.column(named: name)
    let obstacle: String? =
      if table.isInPrimaryKey(column) {
        "is in the primary key"
      } else if column.generated != nil {
        "is computed"
      } else if column.isUnique {
        "is UNIQUE"
      } else {
        nil
      }
    if let obstacle {
      throw PlanningError(
        "`\(table.name).\(name)` \(obstacle): `mirror` cannot write it", key: "mirror")
    }
    let type = column.type.map { table.tokens.text($0.range) } ?? ""
    let value = column.defaultExpression.map { table.tokens.text($0.outerRange) }
    self.name = column.name.text
    affinity = column.collation == nil ? table.affinity(of: column) : nil
    isNotNull = column.notNull != nil
    isRequired = isNotNull && value == nil
    probe = try Connection(path: nil)
    let option = table.parsed.isStrict ? " STRICT" : ""
    try probe.execute("CREATE TABLE probe (number INTEGER, stored \(type))\(option)")
    try probe.execute("INSERT INTO probe (number) VALUES (1)")
    guard let value else {
      initial = .null
      return
    }
    do {
      // For existing rows, SQLite accepts only a constant (ALTER TABLE, section 5).
      try probe.execute("ALTER TABLE probe ADD COLUMN initial \(type) DEFAULT \(value)")
      initial = try probe.value("SELECT initial FROM probe") ?? .null
    } catch {
      if error.isFault { throw error }
      throw PlanningError(
        "the default of `\(table.name).\(name)`, \(value), is not a constant: `mirror` cannot "
          + "detect whether an INSERT names the column", key: "mirror")
    }
  }

  /// Refuses a value that the column would store as another one: such a row would never be in step.
  ///
  /// - Parameter key: the map that contains the values.
  func requireStorable(_ values: [MappedValue], of key: String) throws {
    for value in values.map(\.to) {
      if value == .null, isNotNull {
        throw PlanningError("`\(key)` gives null, and `\(name)` is NOT NULL", key: key)
      }
      guard try !stores(value) else { continue }
      throw PlanningError(
        "`\(key)` gives \(value.sql), which `\(name)` would convert: write a value of the column's "
          + "type", key: key)
    }
  }

  private func stores(_ value: Value) throws(DatabaseError) -> Bool {
    do {
      try probe.execute("UPDATE probe SET stored = \(value.sql)")
      let isSame = ValueMap(column: "stored", entries: []).holds(value)
      return try probe.value("SELECT \(isSame) FROM probe") == 1
    } catch  where !error.isFault {
      // A STRICT table refuses a value of another type.
      return false
    }
  }
}

extension ParsedTable {
  /// SQL that is true for the row that fired a trigger; nil if columns hide every name of the rowid.
  fileprivate var rowOfTrigger: String? {
    guard parsed.isWithoutRowid else {
      return rowid().map { "\($0) = NEW.\($0)" }
    }
    return primaryKey.map { name in
      let column = Quoting.quoted(name)
      let isSame = "\(column) = NEW.\(column)"
      // The key's index may distinguish values that are equal under the column's own collation.
      let isCollated = parsed.column(named: name)?.collation != nil
      return isCollated ? "\(isSame) AND \(isSame) COLLATE BINARY" : isSame
    }.joined(separator: " AND ")
  }
}
