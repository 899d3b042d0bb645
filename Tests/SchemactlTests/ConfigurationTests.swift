import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Configuration")
struct ConfigurationTests {
  /// `schemactl.yaml` names a database and a folder that is not the default one.
  private func project() throws -> WorkingFolder {
    let folder = try WorkingFolder()
    for name in ["db", "history", "src/deep"] { try folder.makeFolder(name) }
    try folder.write("history/0001_notes.yaml", tableOfNotes)
    try folder.write("schemactl.yaml", "migrations: history\ndatabase: db/app.sqlite\n")
    return folder
  }

  @Test("it is found in the working folder or above, and its paths are relative to its own folder")
  func nearest() throws {
    let folder = try project()
    let run = try folder.expect(0, "migrate", in: "src/deep")
    #expect(run.output.hasPrefix("Created `../../db/app.sqlite`.\n"))
    #expect(folder.exists("db/app.sqlite"))
    #expect(
      try folder.expect(0, "migrate").output == "`db/app.sqlite` is up to date: nothing to do.\n")
  }

  @Test("the nearest file is used")
  func nearer() throws {
    let folder = try project()
    try folder.write("src/schemactl.yaml", "migrations: ../history\ndatabase: near.sqlite\n")
    try folder.expect(0, "migrate", in: "src/deep")
    #expect(folder.exists("src/near.sqlite"))
    #expect(!folder.exists("db/app.sqlite"))
  }

  @Test("an option overrides the environment, and the environment overrides the file")
  func precedence() throws {
    let folder = try project()
    let environment = ["SCHEMACTL_DATABASE": "environment.sqlite"]
    try folder.expect(0, "migrate", environment: environment)
    #expect(folder.exists("environment.sqlite"))
    try folder.expect(0, "migrate", "--database", "flag.sqlite", environment: environment)
    #expect(folder.exists("flag.sqlite"))
    #expect(!folder.exists("db/app.sqlite"))
    try folder.expect(66, "migrate", "--migrations", "elsewhere")
  }

  @Test("--config names a file and disables the search")
  func named() throws {
    let folder = try project()
    try folder.write("src/other.yaml", "migrations: ../history\ndatabase: other.sqlite\n")
    try folder.expect(0, "migrate", "--config", "src/other.yaml")
    #expect(folder.exists("src/other.sqlite"))
  }

  @Test("an absolute path is unchanged")
  func absolute() throws {
    let folder = try project()
    let path = folder.path("src/absolute.sqlite")
    try folder.write("schemactl.yaml", "migrations: history\ndatabase: \(path)\n")
    try folder.expect(0, "migrate", in: "src")
    #expect(folder.exists("src/absolute.sqlite"))
  }

  @Test("verify checks the history if a configured database does not exist")
  func missing() throws {
    let folder = try project()
    let run = try folder.expect(0, "verify")
    #expect(run.output == "1 migration: 1 draft.\n")
    #expect(run.errors.hasPrefix("note: `db/app.sqlite` does not exist yet\n"))
    try folder.expect(0, "freeze")
    try folder.write(
      "history/0001_notes.yaml", tableOfNotes.replacingOccurrences(of: "notes", with: "others"))
    try folder.expect(2, "verify")
    let json = try folder.expect(2, "verify", "--format", "json").json()
    #expect(json["ok"] as? Bool == false)
    for environment in [[:], ["SCHEMACTL_DATABASE": "db/app.sqlite"]] {
      let words = environment.isEmpty ? ["verify", "--database", "db/app.sqlite"] : ["verify"]
      let named = try folder.start(words, environment: environment).wait()
      #expect(named.status == 66)
      let (setting, options) =
        environment.isEmpty
        ? ("`--database`", " --database db/app.sqlite") : ("`SCHEMACTL_DATABASE`", "")
      #expect(
        named.errors == """
          schemactl: error: database `db/app.sqlite` does not exist
          help: Correct \(setting), or create the database (`schemactl migrate\(options)`)

          """)
    }
  }

  @Test("66: a missing folder is reported with its setting")
  func missingFolder() throws {
    let folder = try project()
    try folder.remove("db")
    for command in ["migrate", "status", "verify", "plan"] {
      #expect(
        try folder.expect(66, command).errors == """
          schemactl: error: db/app.sqlite: folder `db` does not exist
          help: Correct `database` in `schemactl.yaml`, or create the folder (`mkdir -p db`)

          """, "\(command)")
    }
    try folder.write("schemactl.yaml", "migrations: gone\n")
    #expect(
      try folder.expect(66, "lint").errors.contains(
        "`--migrations`, or `migrations` in `schemactl.yaml`, names another directory"))
    try folder.write("schemactl.yaml", "migrations: history\nqueries: gone\n")
    #expect(
      try folder.expect(66, "lint").errors.hasSuffix(
        "help: Correct `queries` in `schemactl.yaml`\n"))
  }

  @Test(
    "66: a misspelt migrations directory is reported with its place and not created",
    arguments: [
      ["lint"], ["verify"], ["freeze"], ["new", "more"], ["init"], ["squash", "--to", "1"],
    ])
  func misspeltFolder(command: [String]) throws {
    let folder = try project()
    try folder.write("schemactl.yaml", "migrations: histroy\n")
    let run = try folder.start(command).wait()
    #expect(run.status == 66)
    let problem =
      "error: the migrations directory `histroy` does not exist: did you mean `history`?"
    #expect(run.errors.hasPrefix("schemactl.yaml:1:13: \(problem)\n"), "\(run.errors)")
    #expect(!folder.exists("histroy"))
    let named = try folder.start(command + ["--migrations", "histroy"]).wait()
    // A name on the command line is deliberate.
    let isCreated = ["new", "init"].contains(command[0])
    #expect(named.errors.hasPrefix("schemactl: \(problem)\n") != isCreated, "\(named.errors)")
  }

  @Test("`new` creates a directory whose name is not similar to that of another history")
  func otherFolder() throws {
    let folder = try project()
    try folder.write("schemactl.yaml", "migrations: tenants\n")
    #expect(try folder.expect(66, "lint").errors.hasPrefix("schemactl.yaml:1:13: error: "))
    try folder.expect(0, "new", "first")
    #expect(folder.exists("tenants/0001_first.yaml"))
  }

  @Test(
    "66: a configuration that is a broken link is not ignored",
    arguments: [["lint"], ["new", "more"], ["init"], ["status", "--database", "app.sqlite"]])
  func brokenLink(command: [String]) throws {
    let folder = try project()
    try folder.remove("schemactl.yaml")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("schemactl.yaml"), withDestinationPath: "gone.yaml")
    for place in ["", "src/"] {
      let run = try folder.start(command, in: place).wait()
      #expect(run.status == 66)
      #expect(run.errors.contains("schemactl.yaml: is a broken link"), "\(run.errors)")
    }
  }

  @Test(
    "3: every command uses the configured limits of a replay",
    arguments: [
      ["verify"], ["migrate"], ["migrate", "--dry-run"], ["plan"], ["lint"], ["check"],
      ["freeze"], ["new", "more", "--from", "empty.sql"], ["diff", "history", "empty.sql"],
      ["inspect", "history"],
    ])
  func replay(command: [String]) throws {
    let folder = try project()
    try folder.write(
      "schemactl.yaml",
      "migrations: history\ndatabase: app.sqlite\nreplay: { seconds: 60, megabytes: 5 }\n")
    try folder.write("app.sqlite", "")
    try folder.write("empty.sql", "-- nothing\n")
    try folder.write(
      "history/0002_endless.yaml",
      manifest(
        "CREATE TABLE u AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT zeroblob(100000) FROM n"
      ))
    try folder.write("history/0003_more.yaml", manifest("SELECT 1"))
    let run = try folder.start(command).wait()
    #expect(run.status == 3, "\(run.output)\(run.errors)")
    let report = run.output + run.errors
    #expect(
      report.contains(
        "history/0002_endless.yaml:3:5: error: this statement exceeded the replay size limit of 5 MB"
      ),
      "\(report)")
    #expect(report.contains("raise `replay: { megabytes: … }` in `schemactl.yaml`"))
  }

  @Test(
    "65: invalid limits of a replay",
    arguments: [
      "{ seconds: 0 }", "{ seconds: -1 }", "{ seconds: long }", "{ megabytes: 0 }",
      "{ megabytes: 1.5 }", "{ megabytes: 1000001 }", "{ minutes: 1 }", "60",
    ])
  func replayLimits(text: String) throws {
    let folder = try project()
    try folder.write("schemactl.yaml", "migrations: history\nreplay: \(text)\n")
    let run = try folder.expect(65, "verify")
    #expect(run.errors.hasPrefix("schemactl.yaml:2:"))
  }

  @Test("timeout and ignore take effect")
  func otherKeys() throws {
    let folder = try project()
    try folder.write(
      "schemactl.yaml",
      "migrations: history\ndatabase: db/app.sqlite\ntimeout: 0\nignore: ['cache_*']\n")
    try folder.expect(0, "migrate")
    let other = try folder.connection("db/app.sqlite")
    try other.execute("CREATE TABLE cache_images (id)")
    try folder.expect(0, "diff")
    try other.execute("BEGIN EXCLUSIVE")
    try folder.expect(75, "status")
  }

  @Test("diagnostics name files relative to the working folder")
  func diagnostics() throws {
    let folder = try project()
    try folder.write("schemactl.yaml", "migrations: history\n")
    try folder.write("history/0002_wrong.yaml", "operations: 1\n")
    let run = try folder.expect(65, "verify", in: "src")
    let lines = run.errors.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("../history/0002_wrong.yaml:1:13: error: ") })
  }
}
