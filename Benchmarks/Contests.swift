import Foundation

/// Everything that is measured: the rows of the table.
struct Contests {
  let schemactl: String
  let peers: Peers
  let workplace: URL
  let rows: Int

  private func ours(_ words: String..., in folder: URL) -> Command {
    Command(words: [schemactl] + words, folder: folder)
  }

  // MARK: Start-up, and nothing to do

  func start() throws -> Contest {
    Contest(
      title: "start, `--version`", target: 0.9,
      contestants: [
        Contestant(
          name: "sqlite3",
          command: Command(words: ["sqlite3", ":memory:", ".exit"], folder: workplace)),
        Contestant(name: "schemactl", command: ours("--version", in: workplace)),
      ] + peers.starting(in: workplace))
  }

  func nothingToDo(_ count: Int, target: Double) throws -> Contest {
    let history = try SmallMigrations(count, in: workplace)
    func database(_ name: String) -> URL {
      history.folder.appendingPathComponent("done-\(name).sqlite")
    }
    let peers = try self.peers.migrating(history, database: database) { _ in }
    for contestant in peers {
      unlink(database(contestant.name).path)
      _ = try measure(contestant.command)
    }
    for name in ["sqlite3", "schemactl"] {
      unlink(database(name).path)
      _ = try measure(
        ours("migrate", "--database", database(name).path, in: history.folder))
    }
    return Contest(
      title: "nothing to do, \(count.formatted()) migrations", target: target,
      contestants: [
        Contestant(
          name: "sqlite3",
          command: Command(
            words: ["sqlite3", database("sqlite3").path, "SELECT count(*) FROM t1"],
            folder: history.folder)),
        Contestant(
          name: "schemactl",
          command: ours("migrate", "--database", database("schemactl").path, in: history.folder)),
      ] + peers)
  }

  // MARK: Many small migrations

  func apply(_ count: Int) throws -> Contest {
    let history = try SmallMigrations(count, in: workplace)
    func database(_ name: String) -> URL {
      history.folder.appendingPathComponent("new-\(name).sqlite")
    }
    func remove(_ name: String) {
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(database(name).path + suffix) }
      // sqitch keeps its registry beside.
      unlink(history.folder.appendingPathComponent("sqitch.sqlite").path)
    }
    return Contest(
      title: "apply \(count.formatted()) small migrations to a new file", target: 1.3,
      contestants: [
        Contestant(
          name: "sqlite3",
          command: Command(
            words: ["sqlite3", database("sqlite3").path], folder: history.folder,
            input: history.folder.appendingPathComponent("all.sql").path),
          prepare: { remove("sqlite3") }),
        Contestant(
          name: "schemactl",
          command: ours(
            "migrate", "--database", database("schemactl").path, in: history.folder),
          prepare: { remove("schemactl") }),
      ] + (try peers.migrating(history, database: database, prepare: remove)),
      question: (SmallMigrations.question, database))
  }

  /// Many small migrations that an existing database has not run.
  func pending(_ count: Int) throws -> Contest {
    let history = try SmallMigrations(count + 10, in: workplace)
    func database(_ name: String) -> URL {
      history.folder.appendingPathComponent("existing-\(name).sqlite")
    }
    func prepare(_ name: String) throws {
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(database(name).path + suffix) }
      let sql = try String(
        contentsOf: history.folder.appendingPathComponent("all.sql"), encoding: .utf8)
      let first = sql.split(separator: "\n").prefix(11).joined(separator: "\n") + "\nCOMMIT;\n"
      let script = history.folder.appendingPathComponent("first.sql")
      try first.write(to: script, atomically: false, encoding: .utf8)
      _ = try output(["sqlite3", database(name).path], in: history.folder, input: script.path)
    }
    func migrated(_ name: String) throws {
      try prepare(name)
      _ = try output(
        [schemactl, "adopt", "--database", database(name).path], in: history.folder)
    }
    let rest = history.folder.appendingPathComponent("rest.sql")
    let sql = try String(
      contentsOf: history.folder.appendingPathComponent("all.sql"), encoding: .utf8)
    try ("BEGIN;\n" + sql.split(separator: "\n").dropFirst(11).joined(separator: "\n") + "\n")
      .write(to: rest, atomically: false, encoding: .utf8)
    let others = try peers.migrating(history, database: database) { name in
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(database(name).path + suffix) }
    }
    return Contest(
      title: "\(count) small pending migrations on an existing file", target: nil,
      contestants: [
        Contestant(
          name: "sqlite3",
          command: Command(
            words: ["sqlite3", database("sqlite3").path], folder: history.folder,
            input: rest.path),
          prepare: { try prepare("sqlite3") }),
        Contestant(
          name: "schemactl",
          command: ours(
            "migrate", "--database", database("schemactl").path, in: history.folder),
          prepare: { try migrated("schemactl") }),
      ] + others,
      question: (SmallMigrations.question, database))
  }

  private func replay(in folder: URL) -> Contestant {
    Contestant(
      name: "sqlite3",
      command: Command(
        words: ["sqlite3", ":memory:"], folder: folder,
        input: folder.appendingPathComponent("all.sql").path))
  }

  /// `verify` or `lint` against a bare replay in memory.
  func reading(
    _ command: String, _ count: Int, tables: Int? = nil, target: Double? = nil
  ) throws -> Contest {
    let history = try SmallMigrations(count, tables: tables, in: workplace)
    let lock = history.folder.appendingPathComponent("migrations/history.lock").path
    if !FileManager.default.fileExists(atPath: lock) {
      _ = try measure(ours("freeze", "--release", "1.0", in: history.folder))
    }
    return Contest(
      title: "\(command) \(count.formatted()) migrations", target: target,
      contestants: [
        replay(in: history.folder),
        Contestant(name: "schemactl", command: ours(command, in: history.folder)),
      ])
  }

  /// `lint` with its proof by two devices, against a bare replay in memory.
  func twoDevices(_ words: String...) throws -> Contest {
    let history = try SyncedTables(tables: 100, releases: 10, in: workplace, schemactl)
    return Contest(
      title: (["lint"] + words).joined(separator: " ") + " 100 tables that sync, 10 releases",
      target: nil,
      contestants: [
        replay(in: history.folder),
        Contestant(
          name: "schemactl",
          command: Command(words: [schemactl, "lint"] + words, folder: history.folder)),
      ])
  }

  // MARK: Rows

  func change(_ change: Change, indexes: Int = 0, target: Double? = nil) throws -> Contest {
    let reminders = try Reminders(rows, indexes: indexes, in: workplace, schemactl)
    let name = "\(change.name)-\(indexes)"
    let history = try reminders.history(change.name, change.operations)
    let script = reminders.folder.appendingPathComponent("\(change.name).sql")
    try change.sql.write(to: script, atomically: false, encoding: .utf8)
    func contestant(_ who: String, _ command: Command) -> Contestant {
      Contestant(name: who, command: command, prepare: { try reminders.copy(for: who) })
    }
    let inner = change.sql.split(separator: "\n").filter { $0 != "BEGIN;" && $0 != "COMMIT;" }
      .joined(separator: "\n")
    return Contest(
      title: change.title + (indexes == 0 ? "" : ", \(indexes) indexes"),
      target: target ?? change.target,
      contestants: [
        contestant(
          "sqlite3",
          Command(
            words: ["sqlite3", reminders.database("sqlite3").path], folder: reminders.folder,
            input: script.path)),
        contestant(
          "schemactl",
          ours(
            "migrate", "--migrations", history.path, "--database",
            reminders.database("schemactl").path, in: reminders.folder)),
      ]
        + (try peers.running(
          inner, named: name.replacingOccurrences(of: "-", with: "_"), in: reminders.folder,
          database: reminders.database, prepare: reminders.copy(for:))),
      question: (change.question, reminders.database))
  }

  /// What the line that shows progress costs, on a terminal.
  func progress() throws -> Contest {
    let reminders = try Reminders(rows, in: workplace, schemactl)
    let history = try reminders.history("type", Change.type(indexes: 0, 0).operations)
    func contestant(_ name: String, _ words: [String]) -> Contestant {
      var command = Command(
        words: [
          schemactl, "migrate", "--migrations", history.path,
          "--database", reminders.database(name).path,
        ] + words, folder: reminders.folder)
      command.onTerminal = true
      return Contestant(name: name, command: command, prepare: { try reminders.copy(for: name) })
    }
    return Contest(
      title: "a rewrite with the progress line, against one without", target: 1.01,
      contestants: [contestant("quiet", ["--quiet"]), contestant("schemactl", [])], factor: 4)
  }

  /// All of the table's rows, in its order.
  var table: [(name: String, make: () throws -> Contest)] {
    let first: [(name: String, make: () throws -> Contest)] = [
      ("start", start),
      ("nothing-10", { try nothingToDo(10, target: 1.3) }),
      ("nothing-1000", { try nothingToDo(1000, target: 4) }),
      ("apply-1000", { try apply(1000) }),
      ("pending-100", { try pending(100) }),
    ]
    let last: [(name: String, make: () throws -> Contest)] = [
      ("drops", { try change(.threeDrops, target: 0.70) }),
      ("drops-2-indexes", { try change(.threeDrops, indexes: 2, target: 0.70) }),
      ("type", { try change(.type(indexes: 0, 1.3)) }),
      ("type-2-indexes", { try change(.type(indexes: 2, 0.8), indexes: 2) }),
      ("type-5-indexes", { try change(.type(indexes: 5, 0.45), indexes: 5) }),
      ("primary-key", { try change(.primaryKey) }),
      ("check", { try change(.check) }),
      ("not-null", { try change(.notNull) }),
      ("verify-1000", { try reading("verify", 1000, target: 1.3) }),
      ("lint-1000", { try reading("lint", 1000, target: 2) }),
      ("verify-2000-tables-1000", { try reading("verify", 2000, tables: 1000, target: 4) }),
      ("two-devices", { try twoDevices() }),
      ("two-devices-full", { try twoDevices("--full") }),
      ("progress", progress),
      ("fleet", { try fleet(rows / 100) }),
      ("fleet-killed", { try fleet(rows / 100, isKilled: true) }),
    ]
    return first
      + Change.statusMoves.map { change in ("status-\(change.name)", { try self.change(change) }) }
      + last
  }
}
