import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The contents of a private database's tables. Excludes SQLite's own tables, virtual tables, their
/// shadow tables and generated columns.
struct Contents {
  struct Table {
    let name: String
    let columns: [Identifier]
    let rows: [[Value]]
    /// The position of an INTEGER PRIMARY KEY that the step renumbered. The new numbers follow the
    /// order of the rows, not their values, so that the digest ignores them.
    let numberedKey: Int?

    func index(of column: Identifier) -> Int? { columns.firstIndex(of: column) }

    /// The rows, with NULL for keys that the step renumbered.
    fileprivate var comparable: [[Value]] {
      guard let numberedKey else { return rows }
      return rows.map { row in
        var row = row
        row[numberedKey] = .null
        return row
      }
    }

    fileprivate var digest: Int { comparable.reduce(rows.count) { $0 &+ $1.hashValue } }
  }

  private(set) var tables: [Identifier: Table] = [:]
  /// A digest of each table, which is equal for the same rows in any order.
  private(set) var digest: [Identifier: Int] = [:]

  /// - Parameters:
  ///   - before: the tables before the step.
  ///   - namesRandomValues: whether the contents are equal if only random values differ.
  init(
    of connection: Connection, _ schema: Schema,
    before: Dictionary<Identifier, FilledDatabase.Table>.Keys, namesRandomValues: Bool = true
  ) throws(DatabaseError) {
    for table in schema.withoutShadowTables().tables
    where !table.isInternal && !table.isVirtualTable {
      do throws(DatabaseError) {
        let statement = try connection.prepare(
          "SELECT * FROM main.\(Quoting.quoted(table.name))")
        let columns = statement.columnNames.map(\.identifier)
        var rows: [[Value]] = []
        while try statement.step() { rows.append(try statement.row) }
        tables[table.name.identifier] = Table(
          name: table.name, columns: columns, rows: rows,
          numberedKey: before.contains(table.name.identifier)
            ? try Self.numberedKey(of: table, columns, rows, connection) : nil)
      } catch {
        if error.isEnvironmentalFault { throw error }
      }
    }
    if namesRandomValues { nameRandomValues() }
    digest = tables.mapValues(\.digest)
  }

  /// Replaces random values by names. Random functions return the numbers of one sequence, so that
  /// one row more or less changes the values in all later rows. A value that several cells share,
  /// such as a key and the references to it, gets its name from the rest of their rows.
  private mutating func nameRandomValues() {
    var rows: [Value: [Int]] = [:]
    for table in tables.values {
      for row in table.rows where row.contains(where: \.isRandom) {
        let rest = row.map { $0.isRandom ? .anyRandom : $0 }
        for value in row where value.isRandom { rows[value, default: []].append(rest.hashValue) }
      }
    }
    guard !rows.isEmpty else { return }
    let names = rows.mapValues { rows -> Value in
      rows.count == 1 ? .anyRandom : .text("\(Value.random) \(rows.reduce(0, &+).magnitude)")
    }
    tables = tables.mapValues { table in
      Table(
        name: table.name, columns: table.columns,
        rows: table.rows.map { $0.map { names[$0] ?? $0 } }, numberedKey: table.numberedKey)
    }
  }

  private static func numberedKey(
    of table: SchemaObject, _ columns: [Identifier], _ rows: [[Value]], _ connection: Connection
  ) throws(DatabaseError) -> Int? {
    let keys = try connection.rows(
      "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0", [.text(table.name)])
    guard keys.count == 1, keys[0][1].text.map({ $0.isSameName(as: "integer") }) ?? false,
      let key = keys[0][0].text.flatMap({ columns.firstIndex(of: $0.identifier) }),
      !rows.contains(where: { !MarkMaker.numbers(in: $0[key]).isEmpty }),
      areConsecutive(rows.map { $0[key] })
    else { return nil }
    return key
  }

  private static func areConsecutive(_ keys: [Value]) -> Bool {
    let numbers = keys.compactMap(\.integer)
    guard let first = numbers.min(), let last = numbers.max() else { return true }
    return last &- first < Int64(keys.count)
  }

  /// The rows that the other contents do not have, as cells of their first column.
  func rows(notIn other: Contents) -> Set<LossJudge.Cell> {
    var places: Set<LossJudge.Cell> = []
    for (name, table) in tables {
      var rest = Dictionary(
        (other.tables[name]?.comparable ?? []).map { ($0, 1) }, uniquingKeysWith: +)
      for (index, row) in table.comparable.enumerated() {
        if let count = rest[row], count > 0 {
          rest[row] = count - 1
        } else {
          places.insert(LossJudge.Cell(table: name, row: index, column: 0))
        }
      }
    }
    return places
  }

  var rowCount: Int { tables.values.reduce(0) { $0 + $1.rows.count } }
}

extension Value {
  fileprivate static let random = "a random value"
  /// The name of a random value that no other cell contains.
  fileprivate static let anyRandom = Value.text(random)

  /// Whether a random function returned the value.
  fileprivate var isRandom: Bool {
    switch self {
    case .integer(let number): ChanceCounter.range.contains(number)
    case .text(let text): text.hasPrefix("a5a5a5a5") || text.hasPrefix("A5A5A5A5")
    case .blob(let bytes): bytes.starts(with: [0xA5, 0xA5, 0xA5])
    default: false
    }
  }

  /// Whether it is the fixed time of a run, in a usual format.
  var isOfFixedClock: Bool {
    switch self {
    case .integer(let number):
      [ChanceCounter.seconds, 1000 * ChanceCounter.seconds].contains(number)
    // A Julian day.
    case .real(let number): number == 2_461_042
    case .text(let text):
      text == ChanceCounter.day || text == "\(ChanceCounter.seconds)"
        || text.contains(ChanceCounter.noon)
    default: false
    }
  }

  /// Whether it is the name of a random value that several cells contain.
  var isNameOfSharedRandom: Bool { isNameOfRandom && self != .anyRandom }

  /// Whether it is the name of a random value.
  var isNameOfRandom: Bool { text?.hasPrefix(Self.random) ?? false }
}
