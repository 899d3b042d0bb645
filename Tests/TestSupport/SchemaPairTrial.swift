import SchemaApply
import SchemaAuthoring
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// Migrates a database with rows from one version of a schema to another, like `new --from` and `migrate`,
/// and reports wrong results.
package struct SchemaPairTrial {
  private let seed: UInt64
  private let old: VariedSchema
  private let new: VariedSchema
  private let sandbox: Sandbox

  package init(seed: UInt64) throws {
    self.seed = seed
    old = VariedSchema(seed: seed)
    new = VariedSchema(after: old)
    sandbox = try Sandbox(isInMemory: true)
    if seed % 3 == 1 { sandbox.application.plansOperationsAlone = true }
  }

  /// Runs the trial.
  ///
  /// - Returns: the first problem with the information to reproduce it; nil if the result is correct.
  package func problem() throws -> String? {
    try fill()
    let wanted = try Schema(of: made(new.whole))
    let before = try PairRows(old, new, sandbox)
    let live = try sandbox.schema().ours { $0.hasPrefix("schemactl_") }
    let operations: [WrittenOperation]
    do {
      operations = try SchemaTransition.operations(
        from: live, to: wanted, sandbox.application)
    } catch {
      return told("no operations: \(error.message)")
    }
    let manifest = manifestText(operations)
    try sandbox.add("0003_transition", manifest)
    let report: MigrateReport
    do {
      report = try sandbox.migrate { $0.isParanoid = seed % 2 == 1 && !misreadByCheck }
    } catch let failure as Failure {
      return told("not planned: \(failure.message)\n\(manifest)")
    }
    if let failure = report.failure { return told("failed: \(failure.message)\n\(manifest)") }
    let reached = try sandbox.schema().ours { $0.hasPrefix("schemactl_") }
    let differences = compareSchemas(expected: wanted, actual: reached).map(\.sentence)
    let lost = before.differences(from: try PairRows(new, old, sandbox, isAfter: true))
    let damage =
      try sandbox.rows("PRAGMA integrity_check").filter {
        $0 != ["ok"] && !($0[0].text?.contains(" value in ") == true && misreadByCheck)
      }.map { "\($0)" }
      + sandbox.rows("PRAGMA foreign_key_check").map { "foreign key \($0)" }
    let problems = differences + lost + damage
    return problems.isEmpty
      ? nil : told(problems.prefix(5).joined(separator: "\n") + "\n\(manifest)")
  }

  /// Whether `quick_check` of SQLite 3.40 may report false errors. If the key of a WITHOUT ROWID table is not
  /// its first column, it reads the wrong column when it checks for NULL and for types.
  private var misreadByCheck: Bool { (old.tables + new.tables).contains(where: \.isWithoutRowid) }

  private func told(_ problem: String) -> String {
    "schema pair \(seed): \(problem)\nfrom:\n"
      + (old.creations + old.additions + old.others).joined(separator: ";\n") + ";\nto:\n"
      + new.whole.joined(separator: ";\n") + ";"
  }

  private func made(_ statements: [String]) throws -> Connection {
    let connection = try Connection(path: nil)
    for statement in statements { try connection.execute(statement) }
    return connection
  }

  /// Creates and fills the database of the first version. Adds some columns, and all indexes, after the rows.
  private func fill() throws {
    func manifest(_ statements: [String]) -> String {
      statements.isEmpty
        ? "operations: []\n"
        : "operations:\n" + statements.map { "  - sql: \(yamlQuoted($0))\n" }.joined()
    }
    try sandbox.add("0001_tables", manifest(old.creations))
    try require(try sandbox.migrate())
    try write(old.rows)
    try sandbox.add("0002_more", manifest(old.additions + old.others))
    try require(try sandbox.migrate())
    try write(old.searchRows)
  }

  private func write(_ statements: [String]) throws {
    let connection = try sandbox.open()
    connection.set(.triggers, to: false)
    try connection.execute("BEGIN")
    for statement in statements { try connection.execute(statement) }
    try connection.execute("COMMIT")
  }

  private func require(_ report: MigrateReport) throws {
    if let failure = report.failure { throw failure }
  }
}

/// The rows that two versions share, by table and by the value of the column that identifies a row.
private struct PairRows {
  private struct Table {
    let columns: [String: String]
    /// The type of each column, and whether the table is STRICT. They determine whether values must be
    /// identical.
    let kinds: [String: String]
    let rows: [Value: [String: Value]]
    let rowids: [Value: Value]
    let sequence: Value?
  }

  private var tables: [String: Table] = [:]

  init(
    _ schema: VariedSchema, _ other: VariedSchema, _ sandbox: Sandbox, isAfter: Bool = false
  ) throws {
    let connection = try sandbox.open()
    for table in schema.tables {
      guard let twin = other.tables.first(where: { $0.name == table.name }) else { continue }
      let (old, new) = isAfter ? (twin, table) : (table, twin)
      let common = table.columns.filter { column in
        twin.columns.contains { $0.name == column.name }
      }.map(\.name)
      let name = Quoting.quoted(table.name)
      let free = ["rowid", "_rowid_", "oid"].first { name in
        !table.columns.contains { $0.name == name }
      }
      let comparesRowids =
        !old.isWithoutRowid && !new.isWithoutRowid && old.isAlias == new.isAlias
        || !old.isWithoutRowid && !new.isWithoutRowid && !new.isAlias
      let rowid = comparesRowids ? free ?? table.anchor : "0"
      let found = try connection.rows(
        "SELECT \(table.anchor), \(rowid), \(common.map { Quoting.quoted($0) }.joined(separator: ", ")) FROM \(name) NOT INDEXED"
      )
      let keys = found.map { $0[0] }
      let types = try connection.rows(
        "SELECT name, lower(type) FROM pragma_table_xinfo(?1)", [.text(table.name)])
      tables[table.name] = Table(
        columns: Dictionary(uniqueKeysWithValues: common.map { ($0, $0) }),
        kinds: Dictionary(
          uniqueKeysWithValues: types.map {
            ($0[0].text ?? "", "\($0[1].text ?? "")\(table.isStrict)")
          }),
        rows: Dictionary(
          zip(
            keys, found.map { Dictionary(uniqueKeysWithValues: zip(common, $0.dropFirst(2))) })
        ) { first, _ in first },
        rowids: Dictionary(zip(keys, found.map { $0[1] })) { first, _ in first },
        sequence: old.isAutoincrement && new.isAutoincrement
          ? try connection.value(
            "SELECT seq FROM sqlite_sequence WHERE name = ?1", [.text(table.name)]) : nil)
    }
  }

  func differences(from after: PairRows) -> [String] {
    tables.keys.sorted().flatMap { name -> [String] in
      guard let old = tables[name], let new = after.tables[name] else { return ["\(name) is gone"] }
      var found: [String] = []
      if old.rows.count != new.rows.count {
        found.append("\(name) had \(old.rows.count) rows and has \(new.rows.count)")
      }
      if old.rowids != new.rowids { found.append("\(name) has other rowids") }
      if old.sequence != new.sequence { found.append("\(name) has another sequence") }
      for (key, row) in old.rows {
        for (column, value) in row {
          let other = new.rows[key]?[column] ?? .null
          let isKept =
            value == other || old.kinds[column] != new.kinds[column] && value.isSame(as: other)
          if !isKept { found.append("\(name).\(column): \(value) became \(other)") }
        }
      }
      return found
    }
  }
}

extension Value {
  /// Whether two values are equal as numbers, because a conversion to another type may change the storage
  /// class.
  fileprivate func isSame(as other: Value) -> Bool {
    guard let number, let theirs = other.number else { return false }
    return number == theirs
  }

  private var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    case .text(let text): Double(text)
    case .blob, .null: nil
    }
  }
}
