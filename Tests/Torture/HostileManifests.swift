import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// Runs commands on invalid or malicious manifests, locks and configurations. A command must not crash or
/// hang, and must not create or change a file except for the migrated database.
struct HostileManifests: Campaign {
  static let name = "hostile-manifests"

  static func run(_ run: Run) throws {
    let campaign = try HostileManifests(run)
    var number = 0
    while run.mayContinue {
      try campaign.strike(Target.allCases[number % Target.allCases.count], number)
      number += 1
    }
  }

  private enum Target: String, CaseIterable {
    case bytes = "manifest with bytes changed"
    case lines = "manifest with lines exchanged or doubled"
    case cut = "manifest cut off"
    case lock = "history lock with bytes changed"
    case configuration = "configuration with bytes changed"
    case sql = "manifest with harmful SQL"
  }

  private let run: Run
  private let folder: String
  private let pristine: [String: [UInt8]]

  private init(_ run: Run) throws {
    self.run = run
    folder = run.folder + "/project"
    try FileManager.default.createDirectory(
      atPath: folder + "/migrations", withIntermediateDirectories: true)
    var files = ["schemactl.yaml": Array(Self.configuration.utf8)]
    let source = repository.path + "/migrations"
    for name in try FileManager.default.contentsOfDirectory(atPath: source)
    where name.hasSuffix(".yaml") || name == "history.lock" {
      files["migrations/" + name] = FileManager.default.contents(atPath: source + "/" + name)
        .map(Array.init)
    }
    pristine = files
  }

  private static let configuration = """
    migrations: migrations
    timeout: 1.5
    sync: { engine: additive, tables: [reminders] }
    functions: [{ name: slug, arguments: 1 }]
    lint: { rules: { drop-column: warning } }
    ignore: ["grdb_*"]

    """

  private func strike(_ target: Target, _ number: Int) throws {
    var files = pristine
    let manifests = files.keys.filter { $0.hasSuffix(".yaml") && $0.hasPrefix("migrations") }
      .sorted()
    let name = manifests[Int.random(in: manifests.indices, using: &run.generator)]
    switch target {
    case .bytes: files[name] = changed(files[name] ?? [])
    case .lines: files[name] = shuffled(files[name] ?? [])
    case .cut:
      let bytes = files[name] ?? []
      files[name] = Array(bytes.prefix(Int.random(in: bytes.indices, using: &run.generator)))
    case .lock:
      files["migrations/history.lock"] = changed(files["migrations/history.lock"] ?? [])
    case .configuration: files["schemactl.yaml"] = changed(files["schemactl.yaml"] ?? [])
    case .sql: files["migrations/0008_harm.yaml"] = Array(harm().utf8)
    }
    // With a lock, schemactl would reject an edited manifest before it decodes the manifest.
    if target != .lock { files["migrations/history.lock"] = nil }
    guard run.wants(target.rawValue) else { return }
    let problems = try judge(files, mustFail: target == .sql, mayUnfreeze: target == .lock)
    guard !problems.isEmpty else { return run.note(target.rawValue) }
    let changed = files.first { pristine[$0.key] != $0.value }
    let text = String(decoding: changed?.value ?? [], as: UTF8.self)
    run.note(
      target.rawValue,
      problem:
        "try \(number + 1): \(problems.joined(separator: "; ")): \(changed?.key ?? "")\n\(text)")
  }

  // MARK: Forbidden SQL

  private func changed(_ bytes: [UInt8]) -> [UInt8] {
    var damage = ByteDamage(bytes)
    for _ in 0..<Int.random(in: 1...4, using: &run.generator) {
      damage.strike(0..<bytes.count, using: &run.generator)
    }
    return damage.bytes
  }

  private func shuffled(_ bytes: [UInt8]) -> [UInt8] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for _ in 0..<Int.random(in: 1...3, using: &run.generator) {
      let one = Int.random(in: lines.indices, using: &run.generator)
      let other = Int.random(in: lines.indices, using: &run.generator)
      if Bool.random(using: &run.generator) {
        lines.swapAt(one, other)
      } else {
        lines.insert(lines[one], at: other)
      }
    }
    return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
  }

  /// Returns forbidden SQL, in one of the places where manifests contain SQL.
  private func harm() -> String {
    let userActions = [
      "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE schemactl_migration", "END TRANSACTION",
      "ATTACH '\(folder)/stray' AS s", "DETACH main", "VACUUM", "VACUUM INTO '\(folder)/stray'",
      "SELECT load_extension('\(folder)/stray')", "SELECT writefile('\(folder)/stray', 'x')",
      "SELECT readfile('/etc/passwd')", "SELECT edit('x', 'touch \(folder)/stray')",
      "SELECT fts3_tokenizer('simple', x'0000000000000000')",
      "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA application_id = 7",
      "PRAGMA user_version = 7", "PRAGMA temp_store_directory = '\(folder)'",
      "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA trusted_schema = ON", "PRAGMA auto_vacuum = 1",
      "DELETE FROM schemactl_migrations", "DROP TABLE schemactl_migrations",
      "UPDATE main.\"SCHEMACTL_migrations\" SET id = 1", "INSERT INTO sqlite_schema DEFAULT VALUES",
      "CREATE TRIGGER h AFTER INSERT ON tags BEGIN DELETE FROM schemactl_migrations; END",
      "DELETE FROM sqlite_schema", "UPDATE sqlite_schema SET sql = ''",
      "CREATE TABLE sqlite_harm (a)", "CREATE TABLE schemactl_harm (a)",
    ]
    let userAction = userActions[Int.random(in: userActions.indices, using: &run.generator)]
    let quoted = userAction.replacingOccurrences(of: "\\", with: "\\\\")
      .replacingOccurrences(of: "\"", with: "\\\"")
    let ways = [
      "sql: \"\(quoted)\"", "sql: \"SELECT 1; /* x */ \(quoted); SELECT 2\"",
      "sql: [\"CREATE TABLE fine (a)\", \"\(quoted)\"]",
      "update: { table: tags, set: { title: \"1; \(quoted)\" }, all: true }",
      "update: { table: tags, set: { title: \"title\" }, where: \"1; \(quoted); SELECT 1\" }",
      "delete: { table: tags, where: \"1 = 0; \(quoted)\" }",
      "assert: { query: \"SELECT 1; \(quoted)\", equals: 1 }",
      "add_column: { table: tags, column: { name: x, default: { sql: \"(1)); \(quoted); (\" } } }",
      "create_view: { name: v, sql: \"CREATE VIEW v AS SELECT 1; \(quoted)\" }",
      "create_index: { name: i, table: tags, columns: [title], where: \"1; \(quoted)\" }",
      "move_column: { table: tags, from: title, to: { name: x }, using: \"1 FROM tags; \(quoted)\" }",
    ]
    return "operations:\n  - \(ways[Int.random(in: ways.indices, using: &run.generator)])\n"
  }

  // MARK: Verdict

  private static let commands = [
    ["check"], ["lint"], ["verify"], ["plan"], ["migrate", "--dry-run"], ["migrate"],
  ]

  /// - Parameter mayUnfreeze: whether the lock may have lost its last line. Then a migration is a draft, and
  ///   `migrate` keeps a copy before it.
  private func judge(
    _ files: [String: [UInt8]], mustFail: Bool, mayUnfreeze: Bool
  ) throws -> [String] {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(
      atPath: folder + "/migrations", withIntermediateDirectories: true)
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    var problems: [String] = []
    for command in Self.commands {
      // Name the configuration and the migrations, so that schemactl does not search for them elsewhere.
      let ended = try LimitedRun(
        "schemactl",
        command + ["--config", folder + "/schemactl.yaml", "--migrations", folder + "/migrations"]
          + (["check", "lint"].contains(command[0]) ? [] : ["--database", folder + "/app.sqlite"]),
        in: run.folder)
      let problem = ended.problem ?? (mustFail && command == ["migrate"] ? ended.success : nil)
      if let problem { problems.append("\(command.joined(separator: " ")): \(problem)") }
    }
    let allowed = Set(files.keys).union(["app.sqlite", "migrations"])
      .union(mayUnfreeze ? ["app.sqlite.before-drafts"] : [])
    let strays = try FileManager.default.subpathsOfDirectory(atPath: folder)
      .filter { !allowed.contains($0) }
    if !strays.isEmpty { problems.append("left \(strays.joined(separator: ", "))") }
    for (name, bytes) in files
    where FileManager.default.contents(atPath: "\(folder)/\(name)").map(Array.init) != bytes {
      problems.append("changed \(name)")
    }
    return problems
  }
}

extension LimitedRun {
  private static let documented: Set<Int32> = [0, 1, 2, 3, 4, 64, 65, 66, 74, 75, 77, 130]

  /// A result that is not allowed for any input.
  var problem: String? {
    if isTooLong { return "does not end" }
    if code < 0 { return "ended by signal \(-code)" }
    if !Self.documented.contains(code) { return "exit code \(code): \(text.prefix(300))" }
    if peakMegabytes > 400 { return "takes \(peakMegabytes) MB" }
    let drives = text.unicodeScalars.contains {
      $0.value < 0x20 && $0 != "\n" && $0 != "\t" || (0x7F..<0xA0).contains($0.value)
    }
    return drives ? "writes control characters: \(text.debugDescription.prefix(300))" : nil
  }

  fileprivate var success: String? { code == 0 ? "runs" : nil }
}
