import SchemaSQLite
import Testing

/// The values of a row in two mirrored columns.
struct Mirrored: Equatable {
  var old: Value
  var new: Value
}

/// A simple model of a mirror. Tests compare its triggers with this model.
struct MirrorModel {
  let map: [Value: Value]
  let mapBack: [Value: Value]
  let initial: Mirrored

  func afterInsert(_ row: Mirrored) -> Mirrored {
    let isUnsaid = row.new == initial.new
    if !isUnsaid || (row.old == initial.old && mapBack[row.new] != nil) { return newerWins(row) }
    return olderWins(row)
  }

  func afterUpdate(of before: Mirrored, to row: Mirrored) -> Mirrored {
    if row.new != before.new { return newerWins(row) }
    return row.old == before.old ? row : olderWins(row)
  }

  private func newerWins(_ row: Mirrored) -> Mirrored {
    guard !isInStep(row), let old = mapBack[row.new] else { return row }
    return Mirrored(old: old, new: row.new)
  }

  private func olderWins(_ row: Mirrored) -> Mirrored {
    guard !isInStep(row), let new = map[row.old] else { return row }
    return Mirrored(old: row.old, new: new)
  }

  private func isInStep(_ row: Mirrored) -> Bool {
    map[row.old] == row.new || mapBack[row.new] == row.old
  }
}

/// A table with a mirrored column, and values that the old and the new app may write to it.
struct MirroredTable: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The statement that creates the table `t`, with the column `old` and a column `label` that identifies
  /// rows.
  let create: String
  /// The columns of the key as a conflict target, and the key values for each label.
  let key: String
  let keys: [String: String]
  let to: String
  let map: [Value: Value]
  let mapBack: [Value: Value]
  let initial: Mirrored
  let oldValues: [Value]
  let newValues: [Value]
  /// Whether the default replaces NULL in the new column.
  var replacesNull = false

  var model: MirrorModel { MirrorModel(map: map, mapBack: mapBack, initial: initial) }

  static let all: [MirroredTable] = [
    MirroredTable(
      testDescription: "a flag and a status",
      create: "CREATE TABLE t (id TEXT PRIMARY KEY, label, note, old INTEGER NOT NULL DEFAULT 0)",
      key: "id", keys: ["a": "'a'", "b": "'b'", "c": "'c'"],
      to: "{ name: new, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }",
      map: [0: 0, 1: 1], mapBack: [0: 0, 1: 1, 2: 0], initial: Mirrored(old: 0, new: 0),
      oldValues: [0, 1, 7], newValues: [0, 1, 2, 9, .null], replacesNull: true),
    MirroredTable(
      testDescription: "texts that differ in case, WITHOUT ROWID",
      create: """
        CREATE TABLE t (a TEXT COLLATE NOCASE, b INTEGER, label, note, old TEXT COLLATE NOCASE,
          PRIMARY KEY (a COLLATE BINARY, b)) WITHOUT ROWID
        """,
      key: "a COLLATE BINARY, b", keys: ["a": "'x', 1", "b": "'X', 1", "c": "'x', 2"],
      to: "{ name: new, type: TEXT, collate: NOCASE, check: \"length(new) < 9\" }",
      map: ["a": "low", "A": "LOW", .null: "none"],
      mapBack: ["low": "a", "LOW": "A", "none": .null, "high": "z"],
      initial: Mirrored(old: .null, new: .null),
      oldValues: ["a", "A", "z", "b", .null],
      newValues: ["low", "LOW", "none", "high", "No", .null]),
    MirroredTable(
      testDescription: "a STRICT table with an integer key",
      create: """
        CREATE TABLE t (id INTEGER PRIMARY KEY, label TEXT, note INTEGER, old INTEGER DEFAULT 1) STRICT
        """,
      key: "id", keys: ["a": "10", "b": "20", "c": "-3"],
      to: "{ name: new, type: TEXT, not_null: true, default: done }",
      map: [0: "open", 1: "done"], mapBack: ["open": 0, "done": 1, "completing": 0],
      initial: Mirrored(old: 1, new: "done"),
      oldValues: [0, 1, 2, .null], newValues: ["open", "done", "completing", "else"]),
    MirroredTable(
      testDescription: "columns without a type, and values that share one",
      create: "CREATE TABLE t (rowid TEXT UNIQUE, label, note, old DEFAULT 0)",
      key: "rowid", keys: ["a": "'a'", "b": "'b'", "c": "'c'"],
      to: "{ name: new }",
      map: [0: 5, 1: 5, "0": 6, .real(1.5): .real(0.1)],
      mapBack: [5: 1, 6: "0", .real(0.1): .real(1.5), "b'c": .blob([0, 255]), .null: 0],
      initial: Mirrored(old: 0, new: .null),
      oldValues: [0, 1, "0", .real(1.5), .real(0), .blob([0, 255]), .null],
      newValues: [5, 6, "6", .real(0.1), "b'c", .real(5), .null]),
  ]
}

extension Value {
  var sql: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text.replacing("'", with: "''"))'"
    case .blob(let bytes):
      "x'\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
    }
  }

  var yaml: String {
    switch self {
    case .null: "null"
    case .text(let text): "'\(text.replacing("'", with: "''"))'"
    case .blob: "{ blob: \"\(sql.dropFirst(2).dropLast())\" }"
    default: sql
    }
  }
}

extension [Value: Value] {
  var yaml: String { "{ " + map { "\($0.yaml): \($1.yaml)" }.joined(separator: ", ") + " }" }
}
