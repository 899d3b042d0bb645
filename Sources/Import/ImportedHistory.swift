import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The history of another tool as manifests, in memory until `write()`.
package struct ImportedHistory: Sendable {
  package let foreign: ForeignHistory
  /// The manifests as a history.
  package let project: Project
  /// The texts of the manifests, in order.
  package let texts: [String]
  /// Whether the migrations have new numbers.
  package let areRenumbered: Bool
  /// The values that may be lost because the manifests were derived from schemas alone; one sentence for each
  /// table.
  package var droppedValues: [String] = []

  /// Creates the manifests.
  ///
  /// - Parameter ignored: globs of database objects that do not belong to the history.
  /// - Throws: `InvalidInput` if the text of a manifest cannot be parsed.
  init(
    _ foreign: ForeignHistory, _ bodies: [ManifestBody], in folder: MigrationFolder,
    _ application: Application, ignoring ignored: [String]
  ) throws {
    let (ids, areRenumbered) = foreign.ids
    var migrations: [Migration] = []
    var texts: [String] = []
    for ((step, body), id) in zip(zip(foreign.steps, bodies), ids) {
      let text = body.text(of: step)
      migrations.append(
        try Migration(id: id, file: folder.file(ofMigration: id), reading: Array(text.utf8)))
      texts.append(text)
    }
    self.foreign = foreign
    self.texts = texts
    self.areRenumbered = areRenumbered
    project = Project(
      folder: folder, migrations: migrations, lock: nil, application: application,
      foreign: ForeignObjects(ignoring: ignored))
  }
}

/// The operations of a manifest, and whether it enforces foreign keys.
struct ManifestBody: Sendable, Hashable {
  let operations: [WrittenOperation]
  var enforcesForeignKeys = false

  /// Keeps the SQL as one `sql` operation.
  init(sql step: ForeignStep) {
    operations =
      TokenizedSQL(step.sql).significant.isEmpty ? [] : [WrittenOperation(sql: step.sql)]
  }

  init(_ operations: [WrittenOperation]) { self.operations = operations }

  func text(of step: ForeignStep) -> String {
    var text = manifestText(description: "Imported from \(step.source).", operations)
    if enforcesForeignKeys { text += "foreign_keys: enforced\n" }
    if let item = step.replaces { text += "replaces:\n  - \(item.yaml)\n" }
    return text
  }
}

extension ImportedHistory {
  /// Writes the manifests atomically: either all or none.
  package func write() throws(Failure) {
    try failing {
      try FileChange.make(
        zip(project.migrations, texts).map { .creation(of: $0.file, Array($1.utf8)) })
    }
  }
}

// MARK: A database of the other tool

/// The state of a database of the other tool, compared with the imported history.
package struct ImportedPoint: Sendable {
  /// The number of migrations that the database has run.
  package let count: Int
  /// The differences between its schema and the expected schema after these migrations.
  package let differences: [SchemaChange]
}

extension ImportedHistory {
  /// Finds the number of migrations that a database of the other tool has run: by the tool's ledger or,
  /// without a ledger, by the schema.
  ///
  /// - Throws: a failure (1, 4) if the ledger does not match the history.
  package func point(
    of database: String, timeout: Double, interruption: Interruption
  ) throws(Failure) -> ImportedPoint {
    let live = try project.adopting(
      ReadableDatabase(file: database, timeout: timeout, interruption: interruption))
    let replay = try project.replay(project.migrations, interruption: interruption)
    if let failure = replay.failure { throw failure }
    var schema = Schema()
    var points: [[SchemaChange]] = []
    for step in replay.steps {
      schema = step.delta.applied(to: schema)
      let isWanted = live.adopted == 0 || points.count + 1 == live.adopted
      points.append(
        isWanted
          ? compareSchemas(
            expected: schema, actual: project.comparable(live.schema, with: schema)) : [])
    }
    if live.adopted > 0 {
      return ImportedPoint(count: live.adopted, differences: points[live.adopted - 1])
    }
    if let last = live.rows?.last?.id {
      throw Failure(
        .finding,
        "`\(database)` already has a ledger of schemactl, up to `\(last)`: schemactl wrote nothing",
        remedy: "Continue with the migrations that created that ledger. To compare with a database "
          + "that only \(foreign.tool.rawValue) has migrated, name one with `--database`")
    }
    guard foreign.steps.allSatisfy({ $0.replaces == nil }) else {
      throw Failure(
        .finding,
        "`\(database)` has no entry of \(foreign.tool.rawValue) for the first migration: it is not a "
          + "database of this history, or another tool created it (`--tool`)")
    }
    // Of several equally near points, take the last one: the migrations between them change only rows, and
    // probably have run.
    let nearest = points.indices.reversed().min { points[$0].count < points[$1].count } ?? 0
    return ImportedPoint(count: nearest + 1, differences: points[nearest])
  }
}

/// Returns the ledger of a database that another tool has migrated; nil if it has none or several.
package func usualLedger(
  of database: String, timeout: Double, interruption: Interruption
) throws(Failure) -> UsualLedger? {
  let ledgers = try ForeignLedgers.usual(
    in: database, timeout: timeout, interruption: interruption)
  return ledgers.count == 1 ? ledgers.first : nil
}
