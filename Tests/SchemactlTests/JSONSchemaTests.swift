import Foundation
import SchemaJSONChecking
import SchemaSQLite
import SchemaTestPrograms
import Testing

private let schemas = repository.appendingPathComponent("docs/json")

/// A state of a project and a database that affects the output of commands.
enum Scene: Sendable {
  /// One migration is pending.
  case pending
  /// Everything is applied.
  case current
  /// Everything is applied, and there is an earlier backup.
  case backedUp
  case drifted
  /// The database has the schema of the history, but no ledger.
  case unledgered
  /// The database contains tables of another application.
  case strangers
  /// A frozen manifest was edited.
  case edited
  /// The database has run an unknown migration.
  case ahead
  /// A later manifest fails on the rows, or on any database.
  case failing, unplannable
  /// Rows of the database are in the way of a migration.
  case obstructed
  /// Lint reports an error.
  case harmful
  /// Two manifests are invalid.
  case malformed
  /// A folder of another tool without a manifest.
  case otherTool
  /// No database, or a database of another application.
  case empty, foreign
  /// A baseline and a schema file are configured.
  case configured

  func folder() throws -> WorkingFolder {
    switch self {
    case .pending: return try migrated(through: "6")
    case .current: return try migrated()
    case .backedUp:
      let folder = try migrated(through: "6")
      try folder.expect(0, "migrate", "--database", "app.sqlite", "--backup")
      try folder.connection("theirs.sqlite").execute("CREATE TABLE theirs (id)")
      return folder
    case .drifted:
      let folder = try migrated()
      try folder.connection().execute("ALTER TABLE tags ADD COLUMN color INTEGER")
      return folder
    case .unledgered:
      let folder = try migrated()
      try folder.connection().execute("DROP TABLE schemactl_migrations")
      return folder
    case .otherTool:
      let folder = try WorkingFolder()
      try folder.makeFolder("sql")
      try folder.write(
        "sql/1_notes.sql", "BEGIN; CREATE TABLE notes (id INTEGER PRIMARY KEY); COMMIT; VACUUM;")
      return folder
    case .strangers:
      let folder = try WorkingFolder.ofReminders()
      try folder.connection().execute("CREATE TABLE theirs (id)")
      return folder
    case .edited:
      let folder = try migrated(through: "6")
      try folder.expect(0, "freeze", "--release", "1.0")
      try folder.write("migrations/0005_limit_tags.yaml", "operations: []\n")
      return folder
    case .ahead:
      let folder = try migrated()
      try folder.remove("migrations/0007_replace_is_completed_with_status.yaml")
      return folder
    case .failing:
      return try .of([
        "0001_notes": tableOfNotes,
        "0002_twice": manifest("INSERT INTO notes (id) VALUES (1), (1)"),
      ])
    case .obstructed:
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      try folder.connection().execute(
        "INSERT INTO notes (text) VALUES ('a'), ('b'), ('a'), (NULL)")
      try folder.write(
        "migrations/0002_unique.yaml", manifest("CREATE UNIQUE INDEX texts ON notes (text)"))
      return folder
    case .unplannable:
      return try .of([
        "0001_notes": tableOfNotes, "0002_nothing": "operations: []\n",
        "0003_twice": manifest("CREATE TABLE notes (id)"),
      ])
    case .harmful:
      return try .of(["0001_notes": tableOfNotes, "0002_drop": manifest("DROP TABLE notes")])
    case .empty: return try WorkingFolder()
    case .foreign:
      let folder = try WorkingFolder()
      try folder.connection().execute("CREATE TABLE theirs (id)")
      return folder
    case .configured:
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.write(
        "schemactl.yaml",
        "lint: { baseline: known }\nschema: schema.sql\nsync: { engine: none }\n")
      try folder.write("known", "")
      try folder.expect(0, "inspect", "--write")
      return folder
    case .malformed:
      return try .of(["0001_a": "operations: [{ drop: 1 }]\n", "0002_b": "operation: []\n"])
    }
  }
}

/// A run of the program, with the schema of `docs/json` for its output.
struct Document: Sendable, CustomTestStringConvertible {
  let status: Int32
  let scene: Scene
  let command: String
  let schema: String

  /// - Parameter schema: by default that of the command; from status 64 up that of a command without
  ///   a result.
  init(_ status: Int32, _ scene: Scene, _ command: String, schema: String? = nil) {
    self.status = status
    self.scene = scene
    self.command = command
    let name = String(command.prefix { $0 != " " })
    self.schema = schema ?? (status < 64 ? name : "error")
  }

  var testDescription: String { "\(scene): \(command) (\(status))" }

  func tree() throws -> JSONTree {
    let words = command.split(separator: " ").map(String.init) + ["--format", "json"]
    let run = try scene.folder().start(words).wait()
    #expect(run.status == status, "\(run.output)\(run.errors)")
    return try JSONTree(parsing: run.output)
  }

  static let all = [
    Document(0, .current, "lint"), Document(1, .harmful, "lint"), Document(3, .failing, "lint"),
    Document(65, .malformed, "lint"), Document(0, .pending, "lint --on-copy --database app.sqlite"),
    Document(4, .ahead, "lint --on-copy --database app.sqlite", schema: "error"),
    Document(0, .current, "check"), Document(1, .harmful, "check --full"),
    Document(2, .edited, "check"), Document(3, .failing, "check"),
    Document(65, .malformed, "check", schema: "check"),
    Document(0, .current, "verify"), Document(0, .pending, "verify --database app.sqlite"),
    Document(1, .drifted, "verify --database app.sqlite"),
    Document(1, .strangers, "verify --database app.sqlite"), Document(2, .edited, "verify"),
    Document(2, .edited, "verify --database app.sqlite"), Document(3, .failing, "verify"),
    Document(4, .ahead, "verify --database app.sqlite"),
    Document(66, .failing, "verify --database no.sqlite"),
    Document(0, .pending, "status --database app.sqlite"),
    Document(1, .pending, "status --database app.sqlite --check"),
    Document(1, .strangers, "status --database app.sqlite", schema: "error"),
    Document(4, .ahead, "status --database app.sqlite"), Document(64, .current, "status"),
    Document(0, .pending, "migrate --database app.sqlite"),
    Document(0, .pending, "migrate --database new.sqlite"),
    Document(0, .pending, "migrate --database new.sqlite --paranoid"),
    Document(0, .pending, "migrate --database app.sqlite --dry-run", schema: "plan"),
    Document(1, .strangers, "migrate --database app.sqlite", schema: "error"),
    Document(2, .edited, "migrate --database app.sqlite", schema: "error"),
    Document(3, .failing, "migrate --database app.sqlite"),
    Document(3, .unplannable, "migrate --database app.sqlite"),
    Document(3, .obstructed, "migrate --database app.sqlite"),
    Document(3, .obstructed, "migrate --database app.sqlite --redact"),
    Document(3, .obstructed, "plan --database app.sqlite"),
    Document(0, .drifted, "status --database app.sqlite"),
    Document(64, .current, "migrate --database app.sqlite --to 0001_create_list_and_reminders"),
    Document(3, .unplannable, "migrate --database app.sqlite --dry-run", schema: "plan"),
    Document(0, .pending, "plan --database app.sqlite --on-copy"),
    Document(3, .failing, "plan --database app.sqlite --on-copy"),
    Document(0, .pending, "migrate --database app.sqlite --backup"),
    Document(0, .backedUp, "restore --database app.sqlite"),
    Document(0, .backedUp, "restore --database app.sqlite --dry-run"),
    Document(1, .backedUp, "restore --database app.sqlite theirs.sqlite", schema: "error"),
    Document(66, .current, "restore --database app.sqlite"),
    Document(4, .ahead, "migrate --database app.sqlite", schema: "error"),
    Document(65, .malformed, "migrate --database app.sqlite"),
    Document(74, .current, "migrate --database migrations"),
    Document(0, .current, "diff --database app.sqlite"),
    Document(1, .drifted, "diff --database app.sqlite"),
    Document(1, .strangers, "diff --database app.sqlite"),
    Document(4, .ahead, "diff --database app.sqlite", schema: "error"),
    Document(0, .current, "freeze --release 1.0"), Document(1, .harmful, "freeze", schema: "error"),
    Document(2, .edited, "freeze", schema: "error"),
    Document(3, .unplannable, "freeze", schema: "error"),
    Document(64, .current, "freeze --release !"),
    Document(0, .edited, "freeze --accept 5 --reason why"),
    Document(64, .current, "freeze --accept 1 --reason why"),
    Document(0, .current, "freeze"),
    Document(0, .current, "generate swift"),
    Document(3, .failing, "generate swift", schema: "error"),
    Document(1, .current, "generate swift --output no.swift --check"),
    Document(0, .current, "bundle"), Document(2, .edited, "bundle", schema: "error"),
    Document(0, .current, "renumber 1"), Document(64, .current, "renumber 99"),
    Document(0, .pending, "plan --database app.sqlite"), Document(0, .current, "plan"),
    Document(1, .strangers, "plan --database app.sqlite", schema: "error"),
    Document(2, .edited, "plan", schema: "error"),
    Document(3, .unplannable, "plan"),
    Document(66, .current, "plan --config no.yaml"),
    Document(0, .current, "new x"), Document(64, .current, "new !"),
    Document(1, .current, "new x --from migrations", schema: "error"),
    Document(0, .current, "inspect"), Document(3, .failing, "inspect", schema: "error"),
    Document(0, .current, "diff migrations app.sqlite"),
    Document(0, .pending, "fleet migrate --databases app.sqlite"),
    Document(4, .ahead, "fleet status --databases app.sqlite"),
    Document(1, .drifted, "fleet verify --databases app.sqlite"),
    Document(66, .current, "fleet verify --databases *.db"),
    Document(1, .strangers, "adopt --database app.sqlite", schema: "error"),
    Document(0, .unledgered, "adopt --database app.sqlite"),
    Document(0, .otherTool, "import sql"), Document(66, .otherTool, "import nowhere"),
    Document(1, .current, "import migrations", schema: "error"),
    Document(0, .current, "squash --to 3"), Document(1, .current, "squash --to 1", schema: "error"),
    Document(64, .current, "squash"),
    Document(1, .strangers, "init --from app.sqlite", schema: "error"),
    Document(1, .configured, "init", schema: "error"),
    Document(0, .empty, "init --profile local"), Document(0, .foreign, "init --from app.sqlite"),
    Document(0, .foreign, "init --from app.sqlite --migrations db"),
    Document(0, .pending, "repair 7 applied --reason x --force --database app.sqlite"),
    Document(64, .pending, "repair 7 absent --reason x --force --database app.sqlite"),
    Document(
      1, .strangers, "repair 7 applied --reason x --force --database app.sqlite", schema: "error"),
    Document(0, .current, "lint --explain drop-column", schema: "explanation"),
    Document(0, .configured, "lint --write-baseline", schema: "baseline"),
    Document(0, .configured, "inspect --write", schema: "schema-file"),
    Document(0, .configured, "check"),
  ]
}

extension Document {
  /// At least one output of each schema.
  static var tested: [Document] {
    let half = oneIn(2, of: all)
    let others = all.filter { other in !half.contains { $0.schema == other.schema } }
    return half + Dictionary(grouping: others, by: \.schema).values.map { $0[0] }
  }
}

@Suite("JSON Schema of the outputs")
struct OutputSchemaTests {
  @Test(
    "every output conforms to its schema, which requires its keys and accepts keys of later versions",
    arguments: Document.tested)
  func fits(_ document: Document) throws {
    let file = schemas.appendingPathComponent("\(document.schema).schema.json")
    let tree = try document.tree()
    #expect(try SchemaChecker(contentsOf: file, isClosed: true).problems(of: tree) == [])
    guard case .array(let required) = try JSONTree(contentsOf: file)["required"],
      case .object(let members) = tree
    else { return #expect(Bool(false), "nothing is required by \(document.schema)") }
    let checker = try SchemaChecker(contentsOf: file)
    for case .string(let key) in required {
      #expect(!checker.problems(of: .object(members.filter { $0.key != key })).isEmpty, "\(key)")
    }
    #expect(checker.problems(of: .object(members.merging(["later": .null]) { $1 })).isEmpty)
  }

  @Test("the JSON of migrate with applied migrations and an error conforms to its schema")
  func errorBesideResult() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.write("migrations/0002_more.yaml", manifest("CREATE TABLE more (id)"))
    try folder.write("migrations/0003_text.yaml", manifest("UPDATE notes SET text = 'two'"))
    let reader = try folder.connection()
    try reader.execute("PRAGMA journal_mode = DELETE; BEGIN")
    _ = try reader.rows("SELECT * FROM notes")
    let run = try folder.expect(
      75, "migrate", "--database", "app.sqlite", "--timeout", "0.1", "--format", "json")
    let file = schemas.appendingPathComponent("migrate.schema.json")
    let tree = try JSONTree(parsing: run.output)
    #expect(tree["error"] != nil)
    #expect(try SchemaChecker(contentsOf: file, isClosed: true).problems(of: tree) == [])
  }

  @Test("every schema is tested with an output")
  func complete() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: schemas.path)
    let used = Set(Document.all.map { "\($0.schema).schema.json" })
    // The lines of `fleet` are not a single document; its own tests check them.
    #expect(Set(names).subtracting(used) == ["common.schema.json", "fleet-line.schema.json"])
  }
}
