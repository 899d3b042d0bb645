import Foundation

/// What users pick instead, as far as it is installed (`make benchmark-peers`).
struct Peers {
  /// Where Python's are.
  let folder: URL

  func path(_ name: String) -> String? {
    let places =
      [folder.appendingPathComponent("bin").path]
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return places.map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Those that only say their version; yoyo does not know it.
  func starting(in workplace: URL) -> [Contestant] {
    [
      ("dbmate", "dbmate"), ("sqitch", "sqitch"), ("alembic", "alembic"),
      ("Django", "django-admin"),
    ].compactMap { name, program in
      path(program).map {
        Contestant(name: name, command: Command(words: [$0, "--version"], folder: workplace))
      }
    }
  }

  /// How each brings a database up to date.
  func migrating(
    _ history: SmallMigrations, database: @escaping (String) -> URL,
    prepare: @escaping (String) throws -> Void
  ) throws -> [Contestant] {
    func contestant(_ name: String, _ words: [String], in folder: URL) -> Contestant {
      Contestant(
        name: name, command: Command(words: words, folder: folder),
        prepare: { try prepare(name) })
    }
    var found: [Contestant] = []
    func file(_ name: String) -> String { database(name).path }
    if let dbmate = path("dbmate") {
      try history.writeForDbmate()
      found.append(
        contestant(
          "dbmate",
          [
            dbmate, "--url", "sqlite:\(file("dbmate"))", "--migrations-dir", "dbmate",
            "--no-dump-schema", "up",
          ], in: history.folder))
    }
    if let alembic = path("alembic") {
      try history.writeForAlembic()
      found.append(
        contestant(
          "alembic",
          ["env", "BENCHMARK_DATABASE=\(file("alembic"))", alembic, "upgrade", "head"],
          in: history.folder))
    }
    if let django = path("django-admin") {
      try history.writeForDjango()
      found.append(
        contestant(
          "Django",
          [
            "env", "BENCHMARK_DATABASE=\(file("Django"))", "PYTHONPATH=.",
            "DJANGO_SETTINGS_MODULE=settings", django, "migrate", "--skip-checks",
          ], in: history.folder.appendingPathComponent("django")))
    }
    if let yoyo = path("yoyo") {
      try history.writeForYoyo()
      found.append(
        contestant(
          "yoyo",
          [yoyo, "apply", "--batch", "--database", "sqlite:///\(file("yoyo"))", "yoyo"],
          in: history.folder))
    }
    if let sqitch = path("sqitch") {
      try history.writeForSqitch()
      found.append(
        contestant(
          "sqitch", [sqitch, "deploy", "db:sqlite:\(file("sqitch"))"],
          in: history.folder.appendingPathComponent("sqitch")))
    }
    return found
  }

  /// One migration of somebody's own SQL on a database that is there.
  func running(
    _ sql: String, named name: String, in workplace: URL, database: @escaping (String) -> URL,
    prepare: @escaping (String) throws -> Void
  ) throws -> [Contestant] {
    guard let dbmate = path("dbmate") else { return [] }
    let folder = workplace.appendingPathComponent("dbmate-\(name)")
    try create(folder)
    try "-- migrate:up\n\(sql)\n\n-- migrate:down\n".write(
      to: folder.appendingPathComponent("20260101000000_\(name).sql"), atomically: false,
      encoding: .utf8)
    return [
      Contestant(
        name: "dbmate",
        command: Command(
          words: [
            dbmate, "--url", "sqlite:\(database("dbmate").path)", "--migrations-dir", folder.path,
            "--no-dump-schema", "up",
          ], folder: workplace),
        prepare: { try prepare("dbmate") })
    ]
  }
}
