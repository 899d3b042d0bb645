import SchemaAuthoring
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// One database for each release of an app. They are the history of a tool that keeps its migrations in code.
package struct ReleaseDatabases: Sendable {
  /// The paths, the oldest release first.
  package let paths: [String]
  package let timeout: Double

  package init(_ paths: [String], timeout: Double) {
    self.paths = paths
    self.timeout = timeout
  }

  private struct Release {
    let path: String
    let schema: Schema
    let ledger: UsualLedger?
  }

  /// Creates one migration from each release to the next. Each replaces the entries that the release added to
  /// the tool's ledger.
  ///
  /// - Parameters:
  ///   - tool: nil to require the ledger of GRDB in each database.
  ///   - ignored: globs of database objects that do not belong to the history.
  /// - Throws: `InvalidInput`, or a `Failure`.
  package func imported(
    tool: ImportTool?, into folder: MigrationFolder, _ application: Application,
    ignoring ignored: [String], interruption: Interruption
  ) throws -> ImportedHistory {
    let releases = try paths.map { try read($0, application, ignored, interruption) }
    if tool == nil { try releases.forEach(requireLedger) }
    var reader = ForeignHistory(tool ?? .grdb, try SourceFiles(paths[0]))
    var bodies: [ManifestBody] = []
    var dropped: [String] = []
    var former = Schema()
    var known: [String] = []
    for release in releases {
      let entries = release.ledger?.entries ?? []
      let new = entries.filter { entry in !known.contains { $0 == entry } }
      if release.ledger != nil, new.isEmpty {
        throw Failure(
          .invalidInput,
          "the database before `\(release.path)` has already run all its migrations: name the "
            + "databases in the order of their releases, each database once")
      }
      let operations = try SchemaTransition.operations(
        from: former, to: release.schema, application)
      for sentence in droppedValues(from: former, to: release.schema) {
        reader.noteDecision(release.path, sentence)
        dropped.append(sentence)
      }
      reader.noteDecision(
        release.path,
        "`import` knows only the schema of the release: add rows that its code inserts or changes "
          + "as `insert` and `update` operations")
      bodies.append(ManifestBody(operations))
      reader.add(release: release.path, entries: new, release.ledger)
      former = release.schema
      known = entries
    }
    var history = try ImportedHistory(
      reader, bodies, in: folder, application, ignoring: ignored)
    history.droppedValues = dropped
    try requireSchemas(history, releases, interruption)
    return history
  }

  private func read(
    _ path: String, _ application: Application, _ ignored: [String], _ interruption: Interruption
  ) throws(Failure) -> Release {
    try DatabaseFile.require(path)
    let ledger = try usualLedger(of: path, timeout: timeout, interruption: interruption)
    let schema = try SchemaSource.database(path).schema(
      application, ignoring: ForeignObjects(ignoring: ignored), timeout: timeout,
      interruption: interruption)
    return Release(path: path, schema: schema, ledger: ledger)
  }

  private func requireLedger(of release: Release) throws(Failure) {
    guard let ledger = release.ledger else {
      throw Failure(
        .finding, "`\(release.path)` has no ledger of a migration tool. schemactl wrote nothing",
        remedy:
          "`schemactl init --from \(shellQuoted(release.path))` starts a history with its schema; "
          + "`import --tool grdb` writes one migration for each database")
    }
    guard ledger.kind != .grdb else { return }
    let tool = ledger.kind.rawValue
    throw Failure(
      .finding,
      "`\(release.path)` has the ledger of \(tool), `\(ledger.table)`. schemactl wrote nothing",
      remedy: "Name the migrations of \(tool): `schemactl import FOLDER --tool \(tool) --database "
        + "\(shellQuoted(release.path))`")
  }

  private func requireSchemas(
    _ history: ImportedHistory, _ releases: [Release], _ interruption: Interruption
  ) throws(Failure) {
    var index = 0
    try history.project.replay(
      interruption: interruption,
      observing: { (_, scratch) throws(Failure) in
        let release = releases[index]
        index += 1
        let differences = compareSchemas(expected: release.schema, actual: scratch.schema)
        guard differences.isEmpty else {
          throw Failure(
            .finding,
            "the manifests do not create the schema of `\(release.path)`. schemactl wrote nothing:",
            details: differences.map(\.sentence).abridged(to: 20).map { "  " + $0 })
        }
      })
  }
}

/// Returns a sentence for each table or set of columns that a release drops, as far as the schemas show. The
/// app's code may have renamed the object, or copied its values elsewhere.
private func droppedValues(from old: Schema, to new: Schema) -> [String] {
  let (old, new) = (old.ours().withoutShadowTables(), new.ours().withoutShadowTables())
  let newTables = new.tables.map(\.name).filter { old.table($0) == nil }
  return old.tables.compactMap { table in
    guard let next = new.table(table.name) else {
      let hint =
        newTables.isEmpty
        ? ""
        : ", and creates \(newTables.map { "`\($0)`" }.abridged(to: 10).joined(separator: ", ")): "
          + "if the app renamed the table, write `rename_table` instead"
      return "the manifest drops table `\(table.name)` with all rows\(hint)"
    }
    guard let before = table.columns, let after = next.columns else { return nil }
    let columns = before.filter { !after.map(\.identifier).contains($0.identifier) }
    let newColumns = after.filter { !before.map(\.identifier).contains($0.identifier) }
    guard !columns.isEmpty else { return nil }
    let hint =
      newColumns.isEmpty
      ? ""
      : ", and adds \(newColumns.map { "`\($0)`" }.abridged(to: 10).joined(separator: ", ")): if "
        + "the app renamed or converted a column, write `rename_column` or `move_column` instead"
    return
      "the manifest drops \(columns.map { "`\($0)`" }.abridged(to: 10).joined(separator: ", ")) of "
      + "`\(table.name)` with all values\(hint)"
  }
}

extension ForeignHistory {
  fileprivate mutating func noteDecision(_ path: String, _ message: String) {
    notes.append(ForeignNote(file: path, kind: .decision, message: message))
  }

  fileprivate mutating func add(release path: String, entries: [String], _ ledger: UsualLedger?) {
    let replaces = ledger.map {
      ReplacedEntries(ledger: $0.table, kind: $0.kind, column: nil, entries: entries)
    }
    let file = fileName(path)
    let name = stem(file, without: ".sqlite") ?? stem(file, without: ".db") ?? file
    steps.append(
      ForeignStep(
        number: "", name: entries.last ?? name, source: file, path: path, sql: "", original: "",
        replaces: replaces))
  }
}
