import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// An adopted database: the point of the history that it has reached.
package struct AdoptReport: Sendable {
  /// The last migration whose effect the database already had.
  package let at: String
  package let adopted: [String]
  package let pending: [String]
  /// Adopted migrations that insert rows, or only change rows: the schema does not show whether they have
  /// run.
  package let unchecked: [String]
}

extension Project {
  /// Writes the ledger of a database that has none, up to the point of the history whose schema the database
  /// has. Changes no other row.
  ///
  /// - Parameters:
  ///   - database: the database, open for reading, or a connection of the application
  ///     (`Connection.borrowing`). Do not use it afterwards.
  ///   - point: the last migration that the database contains; nil searches for it.
  /// - Throws: a failure with the nearest differences if no point of the history has the database's schema,
  ///   or with the points if several have it, because migrations between them change only rows.
  package func adopt(
    _ database: ReadableDatabase, at point: String?, timeout: Double,
    interruption: Interruption = Interruption()
  ) throws(Failure) -> AdoptReport {
    let view = try view(of: database)
    let borrowed = database.connection.isBorrowed ? database.connection : nil
    database.close()
    return try view.adoptInView(
      database.name, on: borrowed, at: point, timeout: timeout, interruption: interruption)
  }

  private func adoptInView(
    _ database: String, on borrowed: Connection?, at point: String?, timeout: Double,
    interruption: Interruption
  ) throws(Failure) -> AdoptReport {
    try requireIntactHistory()
    let replay = try replay(migrations, interruption: interruption)
    if let failure = replay.failure { throw failure }
    return try DatabaseFile.write(
      to: database, on: borrowed, timeout: timeout, interruption: interruption
    ) { connection in
      var live = try LiveDatabase(connection, ledger, path: database)
      let hasLedger = live.rows != nil
      guard (live.rows ?? []).isEmpty else {
        throw Failure(
          .finding,
          "`\(database)` already has a ledger, up to `\(live.rows?.last?.id ?? "")`: `adopt` needs "
            + "a database without a ledger",
          remedy: "`schemactl status --database \(shellQuoted(database))` shows it")
      }
      // Another tool's ledger can distinguish points that have the same schema.
      if point == nil, !migrations.allSatisfy(\.manifest.replaces.isEmpty) {
        live = try adopting(live, in: ReadableDatabase(connection, name: database))
      }
      let adopted = live.adopted > 0 ? migrations[live.adopted - 1].id : nil
      let last = try replay.index(of: live, point ?? adopted, in: self, database)
      if !hasLedger { try connection.execute(ledger.createStatement) }
      for index in 0...last {
        try ledger.insert(replay.adoptedRow(at: index, in: self), into: connection)
      }
      let ids = replay.steps.map(\.migration.id)
      // The module of a virtual table itself writes rows when the table is created.
      let shadows = Set(
        replay.steps.flatMap(\.delta.after.values).flatMap(\.shadowTables).map(\.identifier))
      return AdoptReport(
        at: ids[last], adopted: Array(ids[...last]), pending: Array(ids[(last + 1)...]),
        unchecked: (point ?? adopted) == nil
          ? replay.steps[...last].filter { step in
            step.delta.isEmpty
              || !step.writeSet.written.subtracting(shadows).isSubset(of: step.writeSet.rewritten)
          }.map(\.migration.id) : [])
    }
  }
}

extension PendingReplay {
  /// The index of the last step at the point of the history whose schema the database has.
  fileprivate func index(
    of live: LiveDatabase, _ point: String?, in project: Project, _ database: String
  ) throws(Failure) -> Int {
    var schema = Schema()
    var differences: [[SchemaChange]] = []
    for step in steps {
      schema = step.delta.applied(to: schema)
      differences.append(project.drift(of: live.schema, from: schema))
    }
    let equal = differences.indices.filter { differences[$0].isEmpty }
    if let point {
      guard let index = steps.firstIndex(where: { $0.migration.answers(to: point) }) else {
        throw project.unknownMigration(point)
      }
      guard !differences[index].isEmpty else { return index }
      let fitting = equal.map { steps[$0].migration.id }
      throw refusal(
        "the schema of `\(database)` is not that of `\(steps[index].migration.id)`"
          + (fitting.isEmpty
            ? ""
            : ", but that of \(fitting.map { "`\($0)`" }.joined(separator: ", "))"),
        "`\(steps[index].migration.id)`", differences[index])
    }
    guard let first = equal.first, let last = equal.last else {
      let nearest = differences.indices.min { differences[$0].count < differences[$1].count }
      guard let nearest else {
        throw Failure(
          .finding, "the history has no migration yet",
          remedy: "`schemactl init --from` writes the first migration")
      }
      throw refusal(
        "the schema of `\(database)` differs from the schema at every point of the history",
        "the nearest point, `\(steps[nearest].migration.id)`", differences[nearest])
    }
    guard first == last else {
      throw Failure(
        .finding,
        "several points of the history have the schema of `\(database)`, because only rows change "
          + "between them: \(equal.map { "`\(steps[$0].migration.id)`" }.joined(separator: ", ")). "
          + "Nothing changed",
        remedy: "Name the last migration that the database has run with `--to`")
    }
    return first
  }

  private func refusal(
    _ problem: String, _ point: String, _ differences: [SchemaChange]
  ) -> Failure {
    Failure(
      .finding, "\(problem). Nothing changed. Differences from \(point):",
      details: differences.map(\.sentence).abridged(to: 20).map { "  " + $0 },
      remedy: "Correct the database, or the drafts of the history, and try again")
  }
}
