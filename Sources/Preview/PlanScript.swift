import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText

extension PlanReport {
  /// The plan as a script for the `sqlite3` shell, which stops at the first error and then rolls
  /// back the current migration.
  package var script: String {
    var lines = [
      "-- \(counted(Int64(migrations.count), "migration")) for \(database?.visibleLine ?? "an empty database")"
    ]
    if let costInWords { lines.append("-- in total: \(costInWords)") }
    lines += [".bail on", "PRAGMA foreign_keys = OFF;"]
    if migrations.isEmpty, !adopted.isEmpty {
      lines += ["", "BEGIN IMMEDIATE;"] + ledgerStatements.map(shellScript) + ["COMMIT;"]
    }
    for planned in scripts { lines += [""] + planned.map(shellScript) }
    return lines.joined(separator: "\n") + "\n" + (failure == nil ? "" : Self.refusal)
  }

  /// The script for a missing plan, and the end of an incomplete one. The shell fails on it.
  package static var refusal: String {
    let lines = [".bail on"] + guarded("schemactl has no plan: see its messages", "1")
    return lines.joined(separator: "\n") + "\n"
  }

  private var scripts: [[String]] {
    migrations.enumerated().map { index, planned in
      planned.script(in: ledger, beginningWith: index == 0 ? ledgerStatements : [])
    }
  }

  /// The statements for the ledger that come before the first migration.
  private var ledgerStatements: [String] {
    ((hasLedger ? [] : [ledger.createStatement]) + adopted.map { $0.insertStatement(into: ledger) })
      .map(terminated)
  }
}

extension PlannedMigration {
  fileprivate func script(in ledger: Ledger, beginningWith first: [String]) -> [String] {
    var lines = ["-- \(migration.id.visibleLine)"]
    if let description = migration.manifest.description {
      lines.append("-- \(description.visibleLine)")
    }
    if enforces { lines.append("PRAGMA foreign_keys = ON;") }
    lines.append("BEGIN IMMEDIATE;")
    lines += first + edits.flatMap(\.script)
    if !foreignKeysAfter.isEmpty {
      let before = foreignKeysBefore.isEmpty ? noViolations : violations(of: foreignKeysBefore)
      lines.append("CREATE TEMP TABLE schemactl_before AS \(before);")
    }
    lines += migration.manifest.before.flatMap(script)
    for (index, operation) in operations.enumerated() {
      let plan = operation.plan
      lines.append("-- \(index + 1) \(plan.inWords.visibleLine)")
      lines.append("--   (\(plan.operation.name), \(plan.explanation))")
      lines.append("--   \(operation.costInWords)")
      lines += plan.steps.flatMap(script)
      lines += plan.proofs.map(comment)
    }
    lines += migration.manifest.after.flatMap(script)
    lines += settingsPutBack + temporary.map(terminated)
    if !foreignKeysAfter.isEmpty {
      lines += operations.flatMap { operation -> [String] in
        guard case .renameTable(let table, let to) = operation.plan.operation.kind else {
          return []
        }
        return ["\"table\"", "parent"].map { column in
          "UPDATE temp.schemactl_before SET \(column) = \(Quoting.stringLiteral(to)) WHERE \(column) "
            + "= \(Quoting.stringLiteral(table)) COLLATE NOCASE;"
        }
      }
      lines += guarded(
        "this migration breaks foreign keys: see PRAGMA foreign_key_check",
        "EXISTS (\(violations(of: foreignKeysAfter)) EXCEPT SELECT * FROM temp.schemactl_before)")
      lines.append("DROP TABLE temp.schemactl_before;")
    }
    lines += [statement(for: ledger), "COMMIT;"]
    if enforces { lines.append("PRAGMA foreign_keys = OFF;") }
    return lines
  }

  /// The statement that writes the ledger row, with the time at which the statement runs.
  package func statement(for ledger: Ledger) -> String {
    var row = self.row
    row.startedAt = "NOW"
    return terminated(
      row.insertStatement(into: ledger)
        .replacingFirst("'NOW'", with: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"))
  }

  private var enforces: Bool { migration.manifest.foreignKeys == .enforced }

  /// The statements that reset settings which a PRAGMA in the manifest's SQL may have changed.
  private var settingsPutBack: [String] {
    let words = Set(
      operations.flatMap(\.plan.steps).flatMap { step -> [Identifier] in
        guard case .script(let source) = step else { return [] }
        let tokens = TokenizedSQL(source.text)
        return tokens.significant.map { tokens.text($0).identifier }
      })
    return Pragmas.putBack.filter(words.contains).sorted().map { name in
      "PRAGMA \(name) = \(name == "writable_schema" ? "RESET" : "OFF");"
    }
  }

  private func script(_ step: Step) -> [String] {
    switch step {
    case .question(let question): guarded(question.message, question.condition)
    case .statement(let sql, _): [terminated(sql)]
    case .update(let update): [terminated(update.statement)]
    case .copy(let copy): [terminated(copy.statement)]
    case .edit(let edit): edit.script
    case .script(let source): [terminated(source.text)]
    case .assertion(let assertion): script(assertion)
    case .rewriting(let isOn):
      shellSetting("enable_trigger \(isOn ? "off" : "on")")
        + (enforces ? shellSetting("enable_fkey \(isOn ? "off" : "on")") : [])
    }
  }

  private var noViolations: String {
    "SELECT NULL AS \"table\", NULL AS rowid, NULL AS parent, NULL AS columns, 1 AS number LIMIT 0"
  }

  /// Checks each table by itself, because `foreign_key_check` of an unrelated table may fail with an error.
  private func violations(of tables: [String]) -> String {
    // SQLite limits a compound SELECT to 500 terms, but not the rows of VALUES.
    let names = tables.map { "(\(Quoting.stringLiteral($0)))" }.joined(separator: ", ")
    // A new foreign key changes the numbers of the others. SQLite reports no rowid for a row of a WITHOUT
    // ROWID table, so that `number` distinguishes these rows.
    return """
      SELECT "table", rowid, parent, (SELECT group_concat("from") FROM \
      pragma_foreign_key_list(column1) WHERE id = fkid) AS columns, \
      row_number() OVER (PARTITION BY "table", rowid, parent, fkid) AS number FROM (VALUES \(names)), \
      pragma_foreign_key_check(column1)
      """
  }

  private func comment(_ proof: RowProof) -> String {
    "-- not in this script: the check that no row of \(proof.table.visibleLine) is lost and no "
      + "other value changes"
  }

  private func script(_ assertion: Assertion) -> [String] {
    let tokens = TokenizedSQL(assertion.query.text)
    let expected = assertion.equals.sql
    guard let first = tokens.significant.first,
      let last = tokens.significant.last(where: { tokens.text($0) != ";" }),
      ["select", "values", "with"].contains(tokens.text(first).identifier)
    else {
      return [
        "-- not in this script: the assertion that \(assertion.query.text.visibleLine) gives "
          + expected.visibleLine
      ]
    }
    let query = String(
      decoding: tokens.bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
    return guarded(
      assertion.message ?? "the assertion failed: \(query) does not give \(expected)",
      """
      (WITH answer (value) AS (\(query)) SELECT (SELECT count(*) FROM answer) <> 1 OR NOT EXISTS \
      (SELECT 1 FROM answer WHERE value IS \(expected) AND typeof(value) = typeof(\(expected))))
      """)
  }
}

/// Statements that fail with `message` if `condition` is true. They use a CHECK constraint, because RAISE
/// works only in triggers.
private func guarded(_ message: String, _ condition: String) -> [String] {
  [
    "CREATE TEMP TABLE schemactl_guard (found CONSTRAINT \(Quoting.quoted(message.visibleLine)) "
      + "CHECK (found = 0));",
    "INSERT INTO temp.schemactl_guard SELECT \(condition);",
    "DROP TABLE temp.schemactl_guard;",
  ]
}
