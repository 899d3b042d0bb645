import Foundation
import SchemaTestPrograms
import Testing

@Suite("Query files")
struct QueryFileTests {
  private func folder(_ queries: String = "queries", _ text: String? = "SELECT gone FROM notes;")
    throws
    -> WorkingFolder
  {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.makeFolder(queries)
    if let text { try folder.write("\(queries)/all.sql", text) }
    return folder
  }

  @Test("the folder is next to the migrations or configured")
  func places() throws {
    let beside = try folder()
    #expect(
      try beside.expect(1, "lint", "--profile", "local").output.contains(
        "queries/all.sql:1:8: error: the query does not compile: no such column: gone [query-broken]"
      ))
    try beside.makeFolder("deep/below")
    try beside.write("schemactl.yaml", "migrations: migrations\n")
    #expect(
      try beside.expect(1, "lint", "--profile", "local", in: "deep/below").output.contains(
        "../../queries/all.sql:1:8: error"))
    let named = try folder("app/sql")
    try named.expect(0, "lint", "--profile", "local")
    try named.write("schemactl.yaml", "queries: app/sql\n")
    #expect(
      try named.expect(1, "lint", "--profile", "local").output.contains(
        "app/sql/all.sql:1:8: error"))
    try named.expect(1, "check", "--profile", "local")
    try named.makeFolder("none")
    try named.expect(1, "freeze")
    try named.write("schemactl.yaml", "queries: none\n")
    try named.expect(0, "lint", "--profile", "local")
    try named.expect(0, "check", "--profile", "local")
  }

  @Test("the default folder is optional, and a configured one is required")
  func absent() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "lint", "--profile", "local")
    try folder.write("schemactl.yaml", "queries: gone\n")
    #expect(try folder.expect(66, "lint").errors.contains("gone: No such file or directory"))
    try folder.write("gone", "SELECT 1")
    #expect(try folder.expect(66, "lint").errors.contains("gone: Not a directory"))
  }

  @Test("the report has the number of queries")
  func count() throws {
    let folder = try folder("queries", "SELECT text FROM notes;")
    func end(_ queries: String) throws {
      let output = try folder.expect(0, "lint", "--profile", "local").output
      #expect(output.contains("Profile local: nothing syncs\(queries).\n"), "\(output)")
    }
    try end("; 1 query")
    try folder.write("queries/MORE.SQL", "SELECT id FROM notes; -- one\nDELETE FROM notes;")
    try end("; 3 queries")
    let json = try folder.expect(0, "lint", "--profile", "local", "--format", "json").output
    #expect(json.contains("\"queries\": 3") || json.contains("\"queries\":3"), "\(json)")
    try folder.makeFolder("queries/deeper")
    try folder.write("queries/deeper/a.sql", "SELECT 1")
    try folder.remove("queries/MORE.SQL")
    try folder.remove("queries/all.sql")
    try end("; 0 queries")
    try folder.remove("queries")
    try end("")
  }

  @Test("other names are ignored")
  func otherNames() throws {
    let folder = try folder("queries", nil)
    for name in ["a.txt", ".#a.sql", "._a.sql", ".sql", "a.sql~"] {
      try folder.write("queries/\(name)", "nonsense")
    }
    try folder.expect(0, "lint", "--profile", "local")
  }

  @Test("65: all invalid query files are reported together")
  func hostile() throws {
    let folder = try folder("queries", "SELECT 1")
    try Data("SELECT 1;\n -- \u{e9}".utf8 + [0xFF, 0x0A]).write(
      to: URL(fileURLWithPath: folder.path("queries/bytes.sql")))
    try folder.makeFolder("queries/folder.sql")
    try folder.makeFolder("elsewhere")
    try folder.write("elsewhere/out.sql", "SELECT 1")
    for (link, target) in [
      ("out", "../elsewhere/out.sql"), ("nothing", "nothing"), ("device", "/dev/zero"),
      ("inside", "all.sql"),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("queries/\(link).sql"), withDestinationPath: target)
    }
    let run = try folder.expect(65, "lint", "--profile", "local")
    for (file, message) in [
      ("bytes.sql:2:6", "the file is not UTF-8: save it as UTF-8"),
      ("folder.sql", "is not a regular file"),
      ("out.sql", "is a link that leads out of the folder"),
      ("nothing.sql", "is a broken link"), ("device.sql", "is a link that leads out"),
    ] {
      #expect(run.errors.contains("queries/\(file): error: \(message)"), "\(run.errors)")
    }
    #expect(!run.errors.contains("inside.sql"))
    #expect(!run.errors.contains("all.sql"))
  }

  @Test("65: a file of more than 8 MiB is refused; 77: an unreadable file")
  func limits() throws {
    let folder = try folder("queries", "SELECT 1")
    let large = folder.path("queries/large.sql")
    try folder.write("queries/large.sql", "")
    try FileHandle(forWritingTo: URL(fileURLWithPath: large)).truncate(atOffset: 9 * 1_048_576)
    #expect(
      try folder.expect(65, "lint").errors.contains(
        "queries/large.sql: error: is larger than 8 MiB"))
    try folder.remove("queries/large.sql")
    try folder.setMode(0o755, of: "")
    try folder.setMode(0, of: "queries/all.sql")
    let run = try folder.run("lint", "--profile", "local", asStranger: true)
    #expect(run.status == 77)
    #expect(run.errors.contains("queries/all.sql"))
    try folder.setMode(0o644, of: "queries/all.sql")
  }
}
