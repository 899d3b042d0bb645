import SchemaManifest
import SchemaYAML
import Testing

@Suite("Decoding the configuration")
struct ConfigurationTests {
  private func configuration(_ yaml: String) throws -> Configuration {
    try decodeConfiguration(Array(yaml.utf8), file: "c.yaml")
  }

  @Test("every key is decoded")
  func everyKey() throws {
    let configuration = try configuration(
      """
      migrations: db/migrations
      database: app.sqlite
      timeout: 2.5
      minimum_sqlite: "3.35.5"
      sync:
        engine: sqlite-data
        tables: [reminders]
        local_tables: [cache]
        since: 0004_sync
        oldest_release: "1.0"
      functions:
        - { name: slug, arguments: 1 }
        - name: any
      collations: [localized]
      lint: { rules: { drop-column: error, missing-strict: off, 'x': Note } }
      backup: { path: kept, keep: 3 }
      ignore: [ "tmp_*" ]
      """)
    #expect(configuration.migrations == "db/migrations")
    #expect(configuration.database == "app.sqlite")
    #expect(configuration.timeout == 2.5)
    #expect(configuration.minimumSQLite == SQLiteVersion("3.35.5"))
    #expect(configuration.sync.engine == .sqliteData)
    #expect(configuration.sync.tables?.map(\.text) == ["reminders"])
    #expect(configuration.sync.localTables.map(\.text) == ["cache"])
    #expect(configuration.sync.since?.text == "0004_sync")
    #expect(configuration.sync.since?.position == Position(line: 9, column: 10))
    #expect(configuration.sync.oldestRelease?.text == "1.0")
    #expect(
      configuration.functions == [
        DeclaredFunction(name: "slug", arguments: 1), DeclaredFunction(name: "any", arguments: -1),
      ])
    #expect(configuration.collations == ["localized"])
    #expect(configuration.rules.map(\.rule) == ["drop-column", "missing-strict", "x"])
    #expect(configuration.rules.map(\.severity) == [.error, .off, .note])
    #expect(configuration.rules.first?.position == Position(line: 15, column: 18))
    #expect(configuration.backup?.folder == "kept")
    #expect(configuration.backup?.keep == 3)
    #expect(configuration.ignore == ["tmp_*"])
  }

  @Test("`backup: true` is a backup with default options")
  func backup() throws {
    for yaml in ["backup: true", "backup: {}"] {
      let backup = try configuration(yaml).backup
      #expect(backup != nil)
      #expect(backup?.folder == nil)
      #expect(backup?.keep == nil)
    }
  }

  @Test("the message about another `backup` names both forms")
  func noBackup() {
    let failure = #expect(throws: InvalidInput.self) { try configuration("backup: yes") }
    #expect(
      failure?.diagnostics.first?.message.contains("`backup` must be true or a mapping") == true)
  }

  @Test(
    "a contradiction in `sync` is an error with its position",
    arguments: [
      (
        "sync: { engine: additive, tables: [t], local_tables: [s, T] }",
        "c.yaml:1:58: error: `T` is in `tables`, too: remove it from one of the lists"
      ),
      (
        "sync: { engine: none, tables: [t] }",
        "c.yaml:1:23: error: with `engine: none` no table syncs: remove `tables`, or name another "
          + "engine"
      ),
    ])
  func contradiction(yaml: String, message: String) {
    let failure = #expect(throws: InvalidInput.self) { try configuration(yaml) }
    #expect(failure?.diagnostics.map(\.description) == [message])
  }

  @Test(
    "`off` is suggested for a severity that YAML 1.1 reads as false",
    arguments: ["no", "No", "false", "FALSE"])
  func noSeverity(word: String) {
    let failure = #expect(throws: InvalidInput.self) {
      try configuration("lint: { rules: { drop-column: \(word) } }")
    }
    #expect(failure?.diagnostics.first?.help == "did you mean `off`?")
  }

  @Test(
    "a configuration without keys has the defaults", arguments: ["", "# nothing\n", "---\n", "{}"])
  func defaults(yaml: String) throws {
    let configuration = try configuration(yaml)
    #expect(configuration.migrations == "migrations")
    #expect(configuration.database == nil)
    #expect(configuration.backup == nil)
    #expect(configuration.timeout == 5)
    #expect(configuration.minimumSQLite == nil)
    #expect(configuration.sync.engine == .additive)
    #expect(configuration.sync.tables?.count == nil)
    #expect(configuration.functions.isEmpty)
    #expect(configuration.rules.isEmpty)
  }

  @Test(
    "an engine is decoded from its name",
    arguments: [
      ("none", SyncEngine.none), ("additive", .additive), ("sqlite-data", .sqliteData),
      ("cr-sqlite", .crSQLite),
    ])
  func engines(name: String, engine: SyncEngine) throws {
    #expect(try configuration("sync: { engine: \(name) }").sync.engine == engine)
  }
}
