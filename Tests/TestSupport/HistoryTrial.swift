import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaYAML

/// Replays a history of hand-written SQL, and then rebuilds each of its tables.
package struct HistoryTrial {
  private let files: [String]
  private let sandbox: Sandbox

  /// - Parameter files: the SQL of each migration, in order.
  package init(_ files: [String]) throws {
    self.files = files
    sandbox = try Sandbox(isInMemory: true)
  }

  /// The number of statements that SQLite finds in all files.
  package private(set) var statements = 0
  package private(set) var tables = 0
  package private(set) var rows = 0

  /// Runs the trial.
  ///
  /// - Returns: the differences from the `sqlite3` shell, between two replays, and after rebuilds.
  package mutating func problems() throws -> [String] {
    for (index, sql) in files.enumerated() {
      try sandbox.add(number(index), "operations:\n  - sql: \(yamlQuoted(sql))\n")
    }
    try count()
    if let failure = try failure(of: sandbox) { return ["not applied: \(failure.message)"] }
    return try comparedWithShell() + madeAgain() + disagreements() + rebuilt()
  }

  private func number(_ index: Int) -> String { "\(index + 1)_step" }

  private mutating func count() throws {
    let scratch = try ScratchDatabase(sandbox.application)
    var count = 0
    scratch.observe { _, _ in count += 1 }
    for migration in try sandbox.project().migrations {
      guard (try? scratch.apply(migration)) != nil else { break }
    }
    statements = count
  }

  private func failure(of sandbox: Sandbox) throws -> Failure? {
    do {
      return try sandbox.migrate().failure
    } catch let failure as Failure {
      return failure
    }
  }

  private func isOurs(_ name: String) -> Bool { name.hasPrefix("schemactl_") }

  // MARK: Comparison with other tools

  private func comparedWithShell() throws -> [String] {
    let shell = sandbox.folder + "/shell.sqlite"
    // Each file is a separate script, so a comment at its end must not include the next file.
    let script = files.map { file in
      let endsInComment = TokenizedSQL(file).tokens.last?.kind == .comment
      return file + (endsInComment ? "\n;\n" : ";\n")
    }.joined()
    let ended = try run("/usr/bin/env", ["sqlite3", "-bail", shell], input: script)
    guard ended.code == 0 else { return ["the shell fails: \(ended.errors)"] }
    let theirs = try Connection(path: shell)
    let ours = try sandbox.open()
    let (expected, live) = (
      try Schema(of: theirs).ours(), try Schema(of: ours).ours(except: isOurs)
    )
    var problems = compareSchemas(expected: expected, actual: live).map(\.sentence)
    problems += compareSchemas(expected: live, actual: live).map(\.sentence)
    if expected.fingerprint() != live.fingerprint() { problems.append("other fingerprints") }
    // The shell reads line by line and drops carriage returns.
    if script.utf8.contains(UInt8(ascii: "\r")) { return problems }
    problems += try DatabaseContent(theirs).differences(
      from: DatabaseContent(ours, except: isOurs)
    ).filter { !$0.contains("sqlite_sequence") }
    return problems
  }

  /// Recreates the schema with the operations of one manifest, and compares the results.
  private func madeAgain() throws -> [String] {
    let live = try sandbox.schema().ours(except: isOurs)
    let other = try Sandbox(isInMemory: true)
    try other.add("0001_all", manifestText(live.operations))
    if let failure = try failure(of: other) { return ["not printed: \(failure.message)"] }
    return compareSchemas(
      expected: live, actual: try other.schema().ours(except: isOurs)
    ).map { "printed: \($0.sentence)" }
  }

  private func disagreements() throws -> [String] {
    try parserDisagreements(with: sandbox.open())
  }

  // MARK: Rebuilding

  private mutating func rebuilt() throws -> [String] {
    try fill()
    let objects = try sandbox.schema().ours(except: isOurs).withoutShadowTables()
    let ordinary = objects.tables.filter { !$0.isVirtualTable }
    tables = ordinary.count
    let before = try DatabaseContent(sandbox.open(), except: isOurs)
    rows = before.rows.values.reduce(0) { $0 + $1.count }
    try sandbox.add(
      "\(files.count + 1)_same", manifestText(ordinary.map { .rebuild($0) }))
    if let failure = try failure(of: sandbox) { return ["not rebuilt: \(failure.message)"] }
    return before.differences(from: try DatabaseContent(sandbox.open(), except: isOurs))
  }

  /// Inserts a few rows into every table whose constraints allow it.
  private func fill() throws {
    let connection = try sandbox.open()
    connection.set(.triggers, to: false)
    connection.set(.foreignKeys, to: false)
    for table in try sandbox.schema().ours(except: isOurs).withoutShadowTables().tables {
      let columns = try connection.rows(
        "SELECT name, lower(type) FROM pragma_table_xinfo(?1) WHERE hidden = 0",
        [.text(table.name)])
      guard !columns.isEmpty else { continue }
      let names = columns.map { Quoting.quoted($0[0].text ?? "") }.joined(separator: ", ")
      for row in 1...6 {
        for attempt in 0..<4 {
          let values = columns.map { column in
            value(of: column[1].text ?? "", row: row, attempt: attempt)
          }
          let insert =
            "INSERT INTO \(Quoting.quoted(table.name)) (\(names)) VALUES (\(values.joined(separator: ", ")))"
          if (try? connection.execute(insert)) != nil { break }
        }
      }
      // Delete the last row, so that AUTOINCREMENT counters are greater than the last rowid.
      if !table.isVirtualTable {
        let last = Quoting.quoted(columns[0][0].text ?? "")
        _ = try? connection.execute(
          "DELETE FROM \(Quoting.quoted(table.name)) WHERE \(last) IN "
            + "(SELECT max(\(last)) FROM \(Quoting.quoted(table.name)))")
      }
    }
  }

  private func value(of type: String, row: Int, attempt: Int) -> String {
    switch attempt {
    case 0: type.contains("int") || type.isEmpty ? "\(row * 3)" : "'text \(row)'"
    case 1: "\(row % 2)"
    case 2: "'{\"a\": \(row)}'"
    default: type.contains("int") ? "1" : "NULL"
    }
  }
}
