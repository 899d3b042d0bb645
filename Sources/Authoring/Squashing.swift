import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// One manifest that has the effect of all migrations through a point of the history. Nothing is written
/// before `write()`.
package struct Squashing: Sendable {
  package let id: String
  /// The YAML text of the manifest.
  package let text: String
  /// The ids of the replaced migrations, older squashes included, in order.
  package let replaced: [String]
  /// The manifests that move to the folder `squashed`.
  package let moved: [Migration]
  /// The lock with the squash; nil if no replaced migration is frozen.
  package let lock: HistoryLock?
  /// The number of rows that the squash inserts.
  package let rows: Int
  /// The releases whose databases still need the manifests in `squashed`.
  package let releases: [String]
  let folder: MigrationFolder

  /// The number of replaced migrations, without older squashes.
  package let replacedCount: Int
}

extension Project {
  /// Creates a squash of the history through a migration, and verifies it: the old and the new history give
  /// the same schema and rows, and the later migrations have the same effect after it.
  ///
  /// - Parameter name: the id or the number of the last migration to replace.
  package func squashing(
    through name: String, interruption: Interruption = Interruption()
  ) throws(Failure) -> Squashing {
    try requireIntactHistory()
    let last = try index(ofMigration: name)
    guard last > 0 else {
      throw Failure(
        .finding,
        "`\(migrations[last].id)` is the first migration: a squash replaces at least two. Nothing changed"
      )
    }
    let old = Array(migrations[...last])
    let frozen = old.count(where: isFrozen)
    if frozen > 0, let draft = old.first(where: { !isFrozen($0) }) {
      throw Failure(
        .finding,
        "`\(draft.id)` is not frozen, and others before it are: freeze it first (`schemactl freeze`), or name an "
          + "earlier migration. Nothing changed")
    }
    return try failing(on: folder.path) { try squashing(old, isFrozen: frozen > 0, interruption) }
  }

  private func squashing(
    _ old: [Migration], isFrozen: Bool, _ interruption: Interruption
  ) throws -> Squashing {
    let chance = ChanceCounter()
    var random: Migration?
    let noon = try seeded(old, with: chance, interruption) { step, _ in
      if chance.last > 0, random == nil { random = step.migration }
    }
    // The offset is a prime number, so that remainders of the random numbers differ too.
    let other = try seeded(
      old, on: "2031-05-07", at: "19:23:41", with: ChanceCounter(from: 1_000_003), interruption)
    let rows = try RowScript(noon, comparedWith: other)
    // Rows can depend on random values although they are equal in two runs.
    if let random { throw Self.callsRandomFunctions(random) }
    let last = old[old.count - 1]
    let id = squashID(of: last.id)
    let replaced = old.flatMap { $0.manifest.squashed + [$0.id] }
    let text = manifest(rows, replaced: replaced, old)
    let file = folder.file(ofMigration: id)
    let squash = try Migration(id: id, file: file, reading: Array(text.utf8))
    try prove(squash, noon, rows, old.count, interruption)

    var lock = self.lock
    if isFrozen {
      let release = old.last.flatMap { self.lock?.entry($0.id)?.release }
      try lock?.freeze(
        LockEntry(
          id: id, release: release,
          digests: LockedDigests(
            raw: squash.rawDigest, canonical: squash.canonicalDigest, schema: noon.fingerprint,
            sqlite: Connection.libraryVersion)))
    }
    let ids = Set(replaced.map(\.exact))
    return Squashing(
      id: id, text: text, replaced: replaced, moved: old, lock: isFrozen ? lock : nil,
      rows: rows.count,
      releases: (self.lock?.settingAside { _ in false }.releases ?? []).filter {
        ids.contains($0.lastID)
      }.map(\.name),
      folder: folder, replacedCount: squash.replacedMigrations.count)
  }

  private static func callsRandomFunctions(_ migration: Migration) -> Failure {
    .unrepeatable("`\(migration.id)` calls a random function")
  }

  private func seeded(
    _ migrations: [Migration], on day: String = ChanceCounter.day,
    at time: String = ChanceCounter.noon, with chance: ChanceCounter, _ interruption: Interruption,
    observing observe: (ScratchDatabase.Step, ScratchDatabase) -> Void = { _, _ in }
  ) throws(Failure) -> ScratchDatabase {
    try replay(
      migrations, interruption: interruption,
      preparing: { scratch in
        try? scratch.connection.fixClockAndChance(chance, on: day, at: time)
      }, observing: observe)
  }

  private func manifest(_ rows: RowScript, replaced: [String], _ old: [Migration]) -> String {
    let last = old[old.count - 1].id
    let count = replaced.count - squashes(among: replaced).count
    var text = manifestText(
      description: "The schema and the rows after \(last): replaces \(count) migrations.",
      rows.operations)
    text += "replaces:\n  - migrations:\n"
    for id in replaced { text += "      - \(yamlScalar(id))\n" }
    if let item = commonLedger(of: old) { text += "  - \(item.yaml)\n" }
    return text
  }

  /// Returns the entries of all migrations as one item if every migration replaces entries of the same
  /// ledger.
  private func commonLedger(of old: [Migration]) -> ReplacedEntries? {
    let items = old.compactMap { $0.manifest.replaces.first }
    guard let first = items.first, items.count == old.count,
      items.allSatisfy({
        $0.ledger == first.ledger && $0.kind == first.kind && $0.column == first.column
      })
    else { return nil }
    return ReplacedEntries(
      ledger: first.ledger, kind: first.kind, column: first.column,
      entries: items.flatMap(\.entries))
  }

  /// Verifies the squash: runs it and the later migrations, and compares the results with those of the old
  /// history.
  private func prove(
    _ squash: Migration, _ old: ScratchDatabase, _ rows: RowScript, _ count: Int,
    _ interruption: Interruption
  ) throws {
    var project = Project(
      folder: folder, migrations: [squash] + migrations.dropFirst(count), lock: nil,
      application: application, foreign: foreign)
    project.readSquashed = readSquashed
    let chance = ChanceCounter()
    let new = try project.seeded([squash], with: chance, interruption)
    // The default of a column may read the clock and still call a random function.
    guard chance.last == 0 else { throw Self.callsRandomFunctions(squash) }
    let differences = compareSchemas(expected: old.schema, actual: new.schema)
    guard differences.isEmpty, new.fingerprint == old.fingerprint else {
      throw Failure(
        .bug, "the squash creates another schema than the migrations that it replaces",
        details: differences.map(\.sentence))
    }
    if let table = try rows.difference(from: new.connection) {
      throw Failure(
        .finding,
        "a squash cannot create the same rows of `\(table)` as the migrations. Nothing changed")
    }
    // The later migrations call random functions in the same order, so they get the same values.
    let before = try seeded(migrations, with: ChanceCounter(), interruption)
    let after = try project.seeded(project.migrations, with: ChanceCounter(), interruption)
    guard before.fingerprint == after.fingerprint else {
      throw Failure(.bug, "the migrations after the squash create another schema than before")
    }
    if let table = try Self.rowDifference(before, after) {
      throw Failure(
        .finding,
        "the migrations after the squash would leave other rows in `\(table)` than before: they "
          + "depend on more than the rows, such as `total_changes()`. Name a later "
          + "migration. Nothing changed"
      )
    }
  }

  /// Returns the first table whose rows differ.
  private static func rowDifference(
    _ before: ScratchDatabase, _ after: ScratchDatabase
  ) throws -> String? {
    for table in before.schema.ours().withoutShadowTables().tables {
      let query = "SELECT * FROM main.\(Quoting.quoted(table.name))"
      // A contentless full-text index returns no rows.
      guard let own = try? before.connection.rows(query) else { continue }
      if try after.connection.rows(query) != own { return table.name }
    }
    return nil
  }
}

extension Squashing {
  /// Moves the replaced manifests, and writes the squash and the lock, atomically.
  package func write() throws(Failure) {
    let target = folder.squashed
    let isNew = mkdir(target.path, 0o777) == 0
    guard isNew || errno == EEXIST else {
      throw Failure(FileError(path: target.path, systemError: errno))
    }
    let moves = moved.map {
      FileChange.renaming($0.file, to: target.file(ofMigration: $0.id))
    }
    do throws(FileError) {
      try FileChange.make(moves + [.creation(of: folder.file(ofMigration: id), Array(text.utf8))]) {
        () throws(FileError) in
        if let lock { try folder.write(lock) }
      }
    } catch {
      if isNew { rmdir(target.path) }
      throw Failure(error)
    }
  }
}
