import SchemaTestPrograms
import Testing

@Suite("A sql operation without a statement")
struct EmptySQLTests {
  @Test(
    "it has no effect, and every command accepts it",
    arguments: [
      "'-- nothing to do'", "\" \\n\\t\"", "';'", "' ; ; '", "' '", "'/* not closed'",
      "['-- one', CREATE TABLE notes (id), '/* two */', ';']",
      "|\n    -- one line\n    /* more\n    */",
    ])
  func nothing(text: String) throws {
    let folder = try WorkingFolder.of(["0001_empty": "operations:\n- sql: \(text)\n"])
    try folder.write("schemactl.yaml", "sync: { engine: none }\n")
    #expect(try folder.expect(0, "lint").output.hasSuffix("Found no problems\n"))
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.expect(0, "verify", "--database", "app.sqlite")
    let shell = try folder.shell("$schemactl plan --sql | sqlite3 shell.sqlite")
    #expect(shell.status == 0 && shell.errors.isEmpty, "\(shell.errors)")
    try folder.expect(0, "verify", "--database", "shell.sqlite")
    try folder.expect(0, "freeze", "--release", "1.0")
    try folder.expect(0, "verify")
  }

  @Test("65: a missing text and an empty expression are refused")
  func forgotten() throws {
    let folder = try WorkingFolder.of(["0001_empty": "operations:\n- sql:\n"])
    #expect(
      try folder.expect(65, "verify").errors.hasPrefix(
        "migrations/0001_empty.yaml:2:7: error: `sql` is empty: it must be SQL"))
    try folder.write(
      "migrations/0001_empty.yaml", "operations:\n- delete: { table: t, where: '-- all' }\n")
    try folder.expect(65, "verify")
  }
}
