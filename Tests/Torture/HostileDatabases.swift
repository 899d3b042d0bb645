import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// Runs every command that opens a database on real databases with many kinds of damage. A command must not
/// crash, hang, or lose a row that was readable before.
struct HostileDatabases: Campaign {
  static let name = "hostile-databases"

  static func run(_ run: Run) throws {
    let campaign = try HostileDatabases(run)
    let targets = Target.all
    var number = 0
    while run.mayContinue {
      try campaign.strike(targets[number % targets.count], number)
      number += 1
    }
  }

  private let run: Run
  private let history: Sandbox
  private let specimens: [Specimen]
  private let database: String

  private init(_ run: Run) throws {
    self.run = run
    let history = try Specimen.history()
    self.history = history
    specimens = try Specimen.layouts.map { try Specimen.make($0, history) }
    try FileManager.default.createDirectory(
      atPath: run.folder + "/hostile", withIntermediateDirectories: true)
    database = run.folder + "/hostile/app.sqlite"
    // This file prevents schemactl from using the configuration of a parent folder.
    try "timeout: 5\n".write(
      toFile: run.folder + "/schemactl.yaml", atomically: true, encoding: .utf8)
  }

  /// The part of a database to damage.
  private enum Target {
    case page(DatabaseImage.PageKind)
    case exchangedPages, header, end, wal, journal, foreignJournal, schema, ledger

    static let all: [Target] =
      DatabaseImage.PageKind.allCases.map { .page($0) }
      + [.exchangedPages, .header, .end, .wal, .journal, .foreignJournal, .schema, .ledger]

    var title: String {
      switch self {
      case .page(let kind): "damaged \(kind.rawValue)"
      case .exchangedPages: "pages exchanged or doubled"
      case .header: "false header"
      case .end: "database cut off"
      case .wal: "damaged WAL"
      case .journal: "damaged rollback journal"
      case .foreignJournal: "rollback journal of another database"
      case .schema: "edited sqlite_schema"
      case .ledger: "edited ledger"
      }
    }
  }

  private func strike(_ target: Target, _ number: Int) throws {
    let (specimen, story) = try damaged(target)
    guard run.wants(target.title) else { return }
    let problems = try judge(specimen)
    var report: String?
    if !problems.isEmpty {
      let kept = FileManager.default.temporaryDirectory
        .appendingPathComponent(
          "hostile-\(ProcessInfo.processInfo.processIdentifier)-\(number).sqlite")
      try specimen.write(to: kept.path)
      report =
        "try \(number + 1): \(specimen.layout): \(story.joined(separator: ", ")): "
        + problems.joined(separator: "; ") + " (kept as \(kept.path))"
    }
    run.note(target.title, problem: report)
  }

  // MARK: Damage

  private func pick(_ isFit: (Specimen) -> Bool = { _ in true }) -> Specimen {
    let fit = specimens.filter(isFit)
    return fit[Int.random(in: fit.indices, using: &run.generator)]
  }

  private func damaged(_ target: Target) throws -> (Specimen, story: [String]) {
    switch target {
    case .page(let kind):
      let specimen = pick { DatabaseImage($0.files[""] ?? []).pages(kind).isEmpty == false }
      return damage(specimen) { damage, image in
        let pages = image.pages(kind)
        let page = pages[Int.random(in: pages.indices, using: &run.generator)]
        damage.strike(image.range(ofPage: page), using: &run.generator)
      }
    case .exchangedPages:
      return damage(pick()) { damage, image in
        let one = Int.random(in: 1..<image.kinds.count, using: &run.generator)
        let other = Int.random(in: 1..<image.kinds.count, using: &run.generator)
        guard one != other else { return }
        let (first, second) = (image.range(ofPage: one), image.range(ofPage: other))
        if Bool.random(using: &run.generator) {
          damage.swap(first, second)
        } else {
          damage.copy(first, to: second)
        }
      }
    case .header: return damage(pick()) { damage, image in editHeader(&damage, image) }
    case .end:
      return damage(pick()) { damage, image in
        damage.truncate(to: .random(in: 0..<image.bytes.count, using: &run.generator))
      }
    case .wal: return damageSidecar(pick { $0.layout.leftover == .wal }, "-wal")
    case .journal: return damageSidecar(pick { $0.layout.leftover == .journal }, "-journal")
    case .foreignJournal: return exchangedJournal()
    case .schema: return try edited(EditedDatabase.schemaEdits)
    case .ledger: return try edited(EditedDatabase.ledgerEdits)
    }
  }

  private func damage(
    _ specimen: Specimen, _ body: (inout ByteDamage, DatabaseImage) -> Void
  ) -> (Specimen, story: [String]) {
    let bytes = specimen.files[""] ?? []
    var damage = ByteDamage(bytes)
    body(&damage, DatabaseImage(bytes))
    return (specimen.replacing("", with: damage.bytes), damage.story)
  }

  /// Writes an invalid but plausible number to the header.
  private func editHeader(_ damage: inout ByteDamage, _ image: DatabaseImage) {
    let pages = image.kinds.count
    let used = Int.random(in: 1...pages, using: &run.generator)
    let edits: [(offset: Int, width: Int, values: [Int])] = [
      (16, 2, [0, 1, 256, 512, 1024, 4096, 32768, 500]), (18, 1, [0, 1, 2, 3, 255]),
      (19, 1, [0, 1, 2, 3, 255]), (20, 1, [1, 8, 32, 255]), (21, 1, [0, 63, 65]),
      (24, 4, [0, 1, 0xFFFF_FFFF]), (28, 4, [0, 1, used, pages - 1, pages + 1, 0xFFFF_FFFF]),
      (32, 4, [0, 1, used, pages, pages + 1, 0xFFFF_FFFF]), (36, 4, [0, 1, pages, 0xFFFF_FFFF]),
      (40, 4, [0, 1, 0xFFFF_FFFF]), (44, 4, [0, 1, 3, 5, 255]), (48, 4, [0, 0xFFFF_FFFF]),
      (52, 4, [0, 1, used, 0xFFFF_FFFF]), (56, 4, [0, 1, 2, 3, 4, 9]), (60, 4, [7]),
      (64, 4, [0, 1]), (68, 4, [7]), (92, 4, [0, 7]), (96, 4, [0, 7]),
    ]
    let edit = edits[Int.random(in: edits.indices, using: &run.generator)]
    let value = edit.values[Int.random(in: edit.values.indices, using: &run.generator)]
    damage.put(value, width: edit.width, at: edit.offset)
  }

  private func damageSidecar(_ specimen: Specimen, _ suffix: String) -> (Specimen, story: [String])
  {
    var damage = ByteDamage(specimen.files[suffix] ?? [])
    if Int.random(in: 0..<4, using: &run.generator) == 0 {
      damage.truncate(to: .random(in: 0..<damage.bytes.count, using: &run.generator))
    } else {
      damage.strike(0..<damage.bytes.count, using: &run.generator)
    }
    return (specimen.replacing(suffix, with: damage.bytes), ["\(suffix):"] + damage.story)
  }

  /// Returns a database with the journal of another, replaced database.
  private func exchangedJournal() -> (Specimen, story: [String]) {
    let specimen = pick { $0.layout.leftover == .nothing }
    let other = pick { $0.layout.leftover == .journal }
    var layout = specimen.layout
    layout.leftover = .journal
    let files = specimen.files.merging(other.files.filter { $0.key == "-journal" }) { $1 }
    return (Specimen(layout: layout, files: files), ["the journal of \(other.layout)"])
  }

  private func edited(_ edits: [String]) throws -> (Specimen, story: [String]) {
    let specimen = pick { $0.layout.leftover == .nothing }
    let sql = edits[Int.random(in: edits.indices, using: &run.generator)]
    try specimen.write(to: database)
    try EditedDatabase.edit(database, sql)
    let bytes = FileManager.default.contents(atPath: database).map(Array.init) ?? []
    return (specimen.replacing("", with: bytes), [sql])
  }

  // MARK: Verdict

  private static let readingCommands = [
    ["status"], ["verify"], ["diff"], ["plan"], ["migrate", "--dry-run"],
  ]

  private func judge(_ specimen: Specimen) throws -> [String] {
    let before = try rows(of: specimen)
    var problems: [String] = []
    try specimen.write(to: database)
    for command in Self.readingCommands { problems += try attempt(command).problems }
    if let change = try changes(specimen, before) { problems.append("only read, but \(change)") }
    try specimen.write(to: database)
    let migrate = try attempt(["migrate"])
    problems += migrate.problems
    let hasApplied = migrate.run.output.hasPrefix("Applied ")
    let loss =
      hasApplied || migrate.run.code == 0
      ? before.loss(in: ReadableRows(of: database)) : try changes(specimen, before)
    if let loss { problems.append("migrate ended with \(migrate.run.code), but \(loss)") }
    return problems
  }

  /// Returns the rows that an independent reader finds in a copy.
  private func rows(of specimen: Specimen) throws -> ReadableRows {
    let copy = run.folder + "/copy.sqlite"
    try specimen.write(to: copy)
    defer { remove(copy) }
    return ReadableRows(of: copy)
  }

  /// Returns the current rows of the database. Copies the file without reading it into memory: a journal can
  /// make it very large, and the memory of this process counts for its child processes.
  private func rows() throws -> ReadableRows {
    let copy = run.folder + "/copy.sqlite"
    defer { remove(copy) }
    for suffix in ["", "-wal", "-journal"]
    where FileManager.default.fileExists(atPath: database + suffix) {
      try FileManager.default.copyItem(atPath: database + suffix, toPath: copy + suffix)
    }
    return ReadableRows(of: copy)
  }

  private func remove(_ database: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(database + suffix) }
  }

  private func attempt(_ command: [String]) throws -> (run: LimitedRun, problems: [String]) {
    let ended = try LimitedRun(
      "schemactl",
      command + [
        "--config", run.folder + "/schemactl.yaml", "--migrations", history.folder + "/migrations",
        "--database", database,
      ], in: run.folder)
    var problems = ended.problem.map { [$0] } ?? []
    if let problem = problem(of: ended) { problems.append(problem + ": " + ended.text.prefix(300)) }
    return (ended, problems.map { "\(command.joined(separator: " ")): \($0)" })
  }

  /// Returns the problem with the command's output.
  private func problem(of ended: LimitedRun) -> String? {
    if ended.code > 4, !ended.errors.contains("app.sqlite") { return "does not name the file" }
    if ended.text.contains("malformed"), ended.code != 74 {
      return "damaged, and exits with \(ended.code)"
    }
    if ended.errors.contains("is damaged"), !ended.errors.contains("backup") {
      return "does not say what to do"
    }
    return nil
  }

  /// Returns the changes by commands that must not change anything.
  private func changes(_ specimen: Specimen, _ before: ReadableRows) throws -> String? {
    let folder = run.folder + "/hostile"
    let bytes = specimen.files[""] ?? []
    // SQLite leaves a WAL next to a database whose header requires it, and restores the pages of a journal.
    let hasWAL = bytes.count > 19 && (bytes[18] == 2 || bytes[19] == 2)
    let usesOthers = hasWAL || specimen.layout.leftover != .nothing
    let expected = Set(specimen.files.keys.map { "app.sqlite\($0)" })
    let extra = hasWAL ? ["app.sqlite-wal", "app.sqlite-shm"] : []
    let strays = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !expected.contains($0) && !extra.contains($0) }
    if !strays.isEmpty { return "left \(strays.joined(separator: ", "))" }
    if usesOthers { return before.loss(in: try rows()) }
    return FileManager.default.contents(atPath: database).map(Array.init) == bytes
      ? nil : "the file was changed"
  }
}
