import SchemaApply
import SchemaCommandLine
import SchemaFleet
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum FleetCommand: Command {
  static let declaration = CommandDeclaration(
    name: "fleet", summary: "Migrate, count or verify many databases.",
    discussion: """
      Migrates, inspects or verifies each database of a list. schemactl reads and replays the \
      history once. Every database has its own ledger, locks and result. After an interruption, \
      run the command again. A failure does not stop the other databases. A missing database is a \
      failure. schemactl tries a busy database again at the end.

      Name the databases by patterns or by a list file. In a pattern, `*` and `?` do not match a \
      slash, and `**` matches any number of folders. A list file has one name in each line or a \
      NUL after each name. Two names of one file are an error. Patterns skip journals, logs, \
      backups and copies.
      """,
    examples: [
      "schemactl fleet migrate --databases 'tenants/*.sqlite'": "Migrate all tenants.",
      "schemactl fleet migrate --databases-from tenants.txt --shard 2/4 --format jsonl > shard-2.jsonl":
        "Migrate the second of four parts of a list, for example on the second of four machines.",
      "schemactl fleet merge shard-*.jsonl": "Add up the reports of all parts.",
    ],
    subcommands: [
      CommandDeclaration(
        name: "migrate", summary: "Bring the databases up to date.",
        discussion: """
          Applies the pending migrations to each database, each migration atomically. The exit \
          code is that of the worst database. With `--canary`, schemactl migrates the first \
          databases of the list, and the others only if all of them succeed.
          """,
        examples: [
          "schemactl fleet migrate --databases 'tenants/*.sqlite' --canary 10 --max-failures 20":
            "Migrate ten databases first, and stop after twenty failures."
        ],
        options: selection + [
          .to(),
          .init("frozen", summary: "Apply only frozen migrations."),
          .init(
            "canary", .number("N", 1...Int.max, whole: true),
            summary: "Migrate the first N databases first, and continue only if all of them "
              + "succeed."),
          .init(
            "max-failures", .number("N", 1...Int.max, whole: true),
            summary: "Start no further database after N failures."),
          .redact,
        ] + output),
      CommandDeclaration(
        name: "status", summary: "Count the databases that are up to date.",
        discussion: "Reads the ledger of each database. It writes nothing.",
        examples: [
          "schemactl fleet status --databases 'tenants/*.sqlite' --check":
            "Exit with 1 if a migration is pending in any database."
        ],
        options: selection + [
          .init("check", summary: "Exit with 1 if a migration is pending.")
        ] + output),
      CommandDeclaration(
        name: "verify", summary: "Compare the databases with the history.",
        discussion:
          "Compares the ledger and the schema of each database with the history. It writes "
          + "nothing.",
        examples: [
          "schemactl fleet verify --databases-from tenants.txt": "Verify each listed database."
        ],
        options: selection + output),
      CommandDeclaration(
        name: "merge", summary: "Add up the reports of all shards of a list.",
        discussion: """
          Reads the output of `fleet COMMAND --shard I/N --format jsonl` of each machine. Fails if \
          the report of a shard is missing or incomplete, or belongs to another list or history. \
          Otherwise the exit code is the worst exit code of the reports.
          """,
        examples: ["schemactl fleet merge shard-*.jsonl": "Add up the reports."],
        arguments: [.init(name: "REPORT", summary: "A report of one shard.", repeats: true)],
        options: [.format(OutputFormat.common), .quiet]),
    ])

  private static let selection: [OptionDeclaration] = [
    .init(
      "databases", .text("PATTERN"), repeats: true,
      summary: "A path or a pattern of databases; `-` reads a list from standard input."),
    .init(
      "databases-from", .text("FILE"), repeats: true,
      summary: "A file that lists databases, one in each line or with a NUL after each."),
    .init(
      "shard", .text("I/N"),
      summary: "Only the I-th of N parts, chosen by the names in the list."),
    .init(
      "jobs", .number("N", 1...1024, whole: true),
      summary: "How many databases to migrate or read at a time; default: the number of "
        + "processors."),
    .timeout,
  ]

  private static let output = [OptionDeclaration].common([.text, .json, .jsonl])

  static func readsConfiguration(_ invocation: Invocation) -> Bool {
    invocation.commandPath.last != "merge"
  }

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { true }

  static func run(_ session: Session) throws -> ExitStatus {
    let command = session.invocation.commandPath.last ?? ""
    guard command != "merge" else { return try merge(session) }
    let list = try list(session)
    let project = try session.project()
    let (work, history) = try work(command, project, session)
    let header = FleetHeader(command: command, history: history, list: list)
    session.reporter.follow(.started(header))
    let summary = try FleetRun(
      work, on: list, options(session), interruption: session.interruption
    ) { session.reporter.follow(.result($0, $1)) }.run()
    let isBehind = session.flag("check") && summary.states[.pending] != nil
    let status = ExitStatus.worst([summary.status, isBehind ? .finding : .success])
    session.reporter.follow(.ended(header, summary, status))
    return status
  }

  private static func list(_ session: Session) throws -> DatabaseList {
    let shard = try session.text("shard").map { text in
      guard let shard = Shard(text) else {
        throw session.usageError(
          "`--shard` cannot be `\(text.visible)`",
          hint: "Give the part and the number of parts, from 1/4 to 4/4.")
      }
      return shard
    }
    let sources =
      session.invocation.texts("databases").map {
        $0 == "-" ? ListSource.standardInput : .pattern($0)
      } + session.invocation.texts("databases-from").map { $0 == "-" ? .standardInput : .file($0) }
    try session.require(
      !sources.isEmpty, "the names of the databases are missing",
      hint: "Name them with `--databases PATTERN` or `--databases-from FILE`.")
    let list = try DatabaseList(shard: shard ?? .all)
    for source in sources { try list.add(source, interruption: session.interruption) }
    try list.close()
    guard list.listed > 0 else {
      throw Failure(.notFound, "the list of the databases is empty")
    }
    return list
  }

  private static func options(_ session: Session) -> FleetOptions {
    var options = FleetOptions()
    options.jobs = session.invocation.integer("jobs") ?? processorCount
    options.canary = session.invocation.integer("canary")
    options.maxFailures = session.invocation.integer("max-failures")
    options.timeout = session.timeout
    return options
  }

  /// - Returns: the work for each database, and a digest of the history.
  private static func work(
    _ command: String, _ project: Project, _ session: Session
  ) throws -> (FleetWork, history: String) {
    var options = session.migrateOptions("")
    options.backup = session.backup()
    guard command != "status" else { return (.status(project), project.digest) }
    let history = try ReplayedHistory(project, options, interruption: session.interruption)
    if options.frozenOnly, history.targets.isEmpty {
      session.warn("`--frozen` applies nothing, because no migration is frozen yet")
    }
    return command == "verify"
      ? (.verify(history), project.digest) : (.migrate(history), history.digest)
  }

  private static func merge(_ session: Session) throws -> ExitStatus {
    let merge = try FleetMerge(session.arguments)
    session.report(
      merge.header.json + merge.summary.json(merge.status)
        + ["failures": merge.summary.failures, "reports": merge.reports]
    ) { $0.show(merge.header, merge.summary, listsFailures: true) }
    return merge.status
  }
}
