import SchemaAuthoring
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension ForeignHistory {
  /// Creates the manifests, runs them and the tool's own SQL, and compares the results.
  ///
  /// - Parameters:
  ///   - asOperations: whether to write operations instead of SQL where they create the same schema.
  ///   - ignored: globs of database objects that do not belong to the history.
  /// - Throws: `InvalidInput`, or a `Failure`: if a migration fails (3), or if the manifests create another
  ///   schema or other rows than the SQL (1).
  package func imported(
    into folder: MigrationFolder, _ application: Application, asOperations: Bool,
    ignoring ignored: [String], interruption: Interruption
  ) throws -> ImportedHistory {
    let scripts = steps.map { ManifestBody(sql: $0) }
    func history(_ bodies: [ManifestBody]) throws -> ImportedHistory {
      try ImportedHistory(self, bodies, in: folder, application, ignoring: ignored)
    }
    if asOperations {
      var bodies = try steps.map { try ManifestBody(operationsOf: $0) }
      // If the operations of a migration do not create the same schema, use its SQL instead.
      while true {
        let history = try history(bodies)
        guard let difference = history.difference(byTokens: true, interruption) else {
          return history
        }
        guard let index = difference.index, bodies[index] != scripts[index] else { break }
        bodies[index] = scripts[index]
      }
    }
    let plain = try history(scripts)
    guard let failure = plain.difference(interruption)?.failure else { return plain }
    // In the shell, PRAGMA foreign_keys takes effect at once, and later statements may run foreign key
    // actions that change rows. So try these migrations again with enforced foreign keys.
    let candidates = steps.indices.filter { steps[$0].turnsForeignKeysOn }
    guard !candidates.isEmpty else { throw failure }
    var bodies = scripts
    for index in candidates { bodies[index].enforcesForeignKeys = true }
    let enforced = try history(bodies)
    guard enforced.difference(interruption) == nil else { throw failure }
    return enforced
  }
}

/// The first difference between the results of the manifests and of the tool's SQL.
private struct Difference {
  /// The index of the step; nil if only the rows at the end differ.
  let index: Int?
  let failure: Failure
}

extension ForeignStep {
  /// Whether a PRAGMA of the file turns foreign keys on, and another statement follows it.
  fileprivate var turnsForeignKeysOn: Bool {
    let file = try? ForeignFile(path, bytes: Array(original.utf8))
    guard let file else { return false }
    let statements = file.statements(in: file.whole).map(file.names)
    return statements.dropLast().contains { names in
      names.first == "PRAGMA" && names.contains("foreign_keys")
        && names.contains { ["ON", "1", "TRUE", "YES"].contains($0) }
    }
  }
}

extension ForeignStep {
  /// Returns a column that a table loses although no comment in Django's SQL names it.
  fileprivate func unnamedLoss(
    from old: Schema, to new: Schema
  ) -> (table: String, column: String)? {
    guard let file = try? ForeignFile(path, bytes: Array(original.utf8)) else { return nil }
    let remarks = file.remarks.map(\.text).filter { !$0.isEmpty }
    let words = Set(remarks.flatMap { $0.split(separator: " ").map { Identifier($0) } })
    // An operation with custom SQL may drop any column.
    guard !remarks.contains(where: { $0.hasPrefix("Raw SQL") || $0.hasPrefix("Custom state") })
    else { return nil }
    for table in old.tables {
      guard let before = table.columns, let after = new.table(table.name)?.columns else { continue }
      let column = before.first { column in
        !after.contains { $0.identifier == column.identifier }
          && !words.contains(column.identifier)
          && !words.contains(Identifier(stem(column, without: "_id") ?? column))
      }
      if let column { return (table.name, column) }
    }
    return nil
  }
}

extension ImportedHistory {
  /// Runs the manifests, runs the SQL as the `sqlite3` shell would, and compares the results. Both sides get
  /// the same times and random numbers.
  ///
  /// - Parameter byTokens: whether to ignore quotes, letter case and white space in definitions.
  /// - Returns: the first difference, or the failure of a migration with its place in the tool's file; nil if
  ///   the results are equal.
  fileprivate func difference(
    byTokens: Bool = false, _ interruption: Interruption
  ) -> Difference? {
    var index = 0
    var found: Difference?
    do {
      let shell = try shell()
      let scratch = try project.replay(
        interruption: interruption,
        preparing: { scratch in
          try? scratch.connection.fixClockAndChance(ChanceCounter())
        },
        observing: { (_, scratch) throws(Failure) in
          if found == nil, let failure = try step(index, shell, scratch, byTokens) {
            found = Difference(index: index, failure: failure)
          }
          index += 1
        })
      if let found { return found }
      return try rowDifference(shell, scratch).map { Difference(index: nil, failure: $0) }
    } catch {
      guard index < foreign.steps.count else { return Difference(index: nil, failure: error) }
      return Difference(index: index, failure: foreign.steps[index].locating(error))
    }
  }

  private func shell() throws(Failure) -> Connection {
    do {
      let connection = try Schema().scratch(project.application)
      connection.set(.trustedSchema, to: true)
      connection.set(.defensive, to: false)
      try connection.fixClockAndChance(ChanceCounter())
      return connection
    } catch {
      throw Failure(error.status, error.inWords)
    }
  }

  private func step(
    _ index: Int, _ shell: Connection, _ scratch: ScratchDatabase, _ byTokens: Bool
  ) throws(Failure) -> Failure? {
    let step = foreign.steps[index]
    do {
      let former = foreign.tool == .django ? try Schema(of: shell) : nil
      // Each file starts with the default settings, as in a separate shell.
      shell.set(.foreignKeys, to: false)
      shell.set(.legacyAlterTable, to: false)
      try shell.execute("PRAGMA ignore_check_constraints = OFF")
      try shell.execute(step.original)
      if shell.isInTransaction { try shell.execute("COMMIT") }
      let expected = try Schema(of: shell).ours()
      if let (table, column) = former.flatMap({ step.unnamedLoss(from: $0, to: expected) }) {
        return Failure(
          .invalidInput,
          "the SQL drops column `\(column)` of `\(table)`, but no operation of the migration does: "
            + "`sqlmigrate` does not know columns that another branch of the history adds. Write "
            + "the SQL with the script in "
            + "`docs/from/django.md`", place: Failure.Place(file: step.path))
      }
      let actual = scratch.schema.ours()
      if byTokens, compareSchemas(expected: expected, actual: actual).isEmpty,
        expected.words == actual.words
      {
        return nil
      }
      let difference = zip(expected.sorted, actual.sorted).first { $0 != $1 }?.0
      guard
        let object = difference
          ?? (expected.objects.count == actual.objects.count
            ? nil : (expected.sorted + actual.sorted).last)
      else { return nil }
      return Failure(
        .finding,
        "the manifest creates another schema than the SQL file: compare `\(object.name)`",
        place: Failure.Place(file: step.path))
    } catch {
      return step.locating(
        Failure(
          .migrationFailed, error.inWords,
          migration: Failure.FailedMigration(
            id: project.migrations[index].id, statement: error.sql)))
    }
  }

  private func rowDifference(
    _ shell: Connection, _ scratch: ScratchDatabase
  ) throws(Failure) -> Failure? {
    let tables: [SchemaObject]
    do {
      tables = try Schema(of: shell).objects
    } catch {
      throw Failure(error.status, error.inWords)
    }
    for table in tables where table.kind == .table {
      guard !table.name.identifier.hasPrefix("sqlite_stat") else { continue }
      let query = "SELECT * FROM \(Quoting.quoted(table.name))"
      // A virtual table may not return its rows. Its shadow tables are compared instead.
      guard let expected = try? shell.rows(query),
        let actual = try? scratch.connection.rows(query)
      else { continue }
      guard expected != actual else { continue }
      return Failure(
        .finding,
        "the manifests leave other rows in `\(table.name)` than the SQL files: \(actual.count) in "
          + "place of \(expected.count)")
    }
    return nil
  }
}

extension Schema {
  /// The objects, sorted by name.
  fileprivate var sorted: [SchemaObject] {
    objects.map(\.unplaced).sorted {
      ($0.name.exact, $0.kind.rawValue) < ($1.name.exact, $1.kind.rawValue)
    }
  }

  /// The words of each definition, without quotes, sorted by name.
  fileprivate var words: [[Identifier]] {
    sorted.map { object in
      let tokens = TokenizedSQL(object.sql ?? "")
      return [object.name.identifier]
        + tokens.significant.map { Quoting.unquoted(tokens.text($0)).identifier }
    }
  }
}

extension ForeignStep {
  /// Adds the place in the tool's file to a failure.
  fileprivate func locating(_ failure: Failure) -> Failure {
    guard [.migrationFailed, .invalidInput].contains(failure.status) else { return failure }
    var position = Position(line: 1, column: 1)
    if let statement = failure.migration?.statement?.trimmed,
      let bytes = try? readFile(path), let file = try? ForeignFile(path, bytes: bytes)
    {
      let text = file.sql.text(file.whole)
      if let start = text.firstRange(of: statement)?.lowerBound {
        position = file.position(text.utf8.distance(from: text.startIndex, to: start))
      }
    }
    return failure.placed(at: Failure.Place(file: path, position: position))
  }
}
