import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Closed and full standard streams")
struct StreamTests {
  /// Every command with output. Those that change the folder come last.
  private static let commands = [
    "--help", "--version", "completions bash", "schema manifest", "lint --explain drop-column",
    "plan", "plan --sql", "status", "verify", "diff", "lint", "check",
    "migrate --dry-run", "migrate", "renumber 7", "freeze", "new more",
  ]
  private static let reporting = ["verify", "lint", "check"]
  private static let plain = ["--help", "--version", "completions bash", "schema manifest"]

  private func formats(of command: String) -> [String] {
    if Self.plain.contains(command) { return [""] }
    let others = Self.reporting.contains(command) ? ["sarif", "github", "xcode"] : []
    return [""] + (["json"] + others).map { " --format \($0)" }
  }

  private func project() throws -> WorkingFolder {
    let folder = try migrated(through: "6")
    try folder.write("schemactl.yaml", "database: app.sqlite\n")
    return folder
  }

  @Test("a closed reader is not an error and not reported")
  func gone() throws {
    let (whole, cut) = (try project(), try project())
    for command in oneIn(3, of: Self.commands.flatMap { c in formats(of: c).map { c + $0 } }) {
      let words = command.split(separator: " ").map(String.init)
      let expected = try whole.start(words).wait()
      let pipe = Pipe()
      try pipe.fileHandleForReading.close()
      let run = try cut.start(words, output: pipe.fileHandleForWriting).wait()
      #expect(run.status == expected.status, "\(words)")
      #expect(run.errors == expected.errors, "\(words)")
    }
    #expect(try cut.applied() == whole.applied())
    #expect(cut.exists("migrations/history.lock") == whole.exists("migrations/history.lock"))
  }

  @Test("a reader that closes during a long output ends it without a message")
  func longOutput() throws {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    for number in 1...300 {
      try folder.write("migrations/\(number)_t.yaml", manifest("CREATE TABLE t\(number) (id)"))
    }
    let run = try folder.shell(
      "{ $schemactl plan --sql; echo $? >&2; } | head -1", environment: ["LC_ALL": "C"])
    #expect(run.output.hasPrefix("-- 300 migrations"))
    #expect(run.errors == "0\n")
  }

  @Test("standard error may be closed, too")
  func errorsGone() throws {
    let folder = try project()
    let run = try folder.shell(
      "{ $schemactl status --nonsense 2>&1; echo $? >code; } | true; cat code")
    #expect(run.output == "64\n")
  }

  @Test(
    "with any closed streams, no message is written to a file, and the work is done",
    arguments: oneIn(2, of: ["0<&-", ">&-", "2>&-", "0<&- >&-", ">&- 2>&-", "0<&- >&- 2>&-"]))
  func closed(streams: String) throws {
    let folder = try project()
    // A rebuild that sorts also creates temporary files.
    try folder.connection().execute(
      """
      WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 3000)
      INSERT INTO reminders (title, notes) SELECT i, hex(zeroblob(400)) FROM i
      """)
    try folder.write(
      "migrations/0008_sorts.yaml",
      manifest("CREATE INDEX sorted ON reminders (notes, title)"))
    // Writing to a closed output is an error (write(2): EBADF).
    let expected: Int32 = " \(streams)".contains(" >&-") ? 74 : 0
    _ = try folder.shell("$schemactl freeze --to 6 \(streams)")
    #expect(try folder.shell("$schemactl migrate \(streams)").status == expected)
    #expect(try folder.applied().count == 8)
    #expect(try folder.rows("PRAGMA integrity_check") == ["ok"])
    try folder.expect(0, "verify", "--database", "app.sqlite")
    let lock = try folder.text("migrations/history.lock")
    #expect(lock.hasPrefix("schemactl history 2\n"))
    #expect(!lock.contains("Froze"))
  }

  #if os(Linux)
    @Test("no file gets the descriptor of a closed stream")
    func numbers() throws {
      let folder = try project()
      try folder.write("schemactl.yaml", "timeout: 100\n")
      let descriptor = open(folder.path("migrations"), O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      #expect(flock(descriptor, LOCK_EX) == 0)
      let child = try SchemaTestPrograms.start(
        "/bin/sh", ["-c", "exec \(program) freeze 0<&- >&- 2>&-"], in: folder.path)
      func openFiles() -> [String] {
        (0..<10).compactMap {
          try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(child.identifier)/fd/\($0)")
        }
      }
      try waitUntil { openFiles().contains { $0.hasSuffix("migrations") } || !child.isRunning }
      #expect(openFiles().prefix(3) == ["/dev/null", "/dev/null", "/dev/null"])
      #expect(flock(descriptor, LOCK_UN) == 0)
      #expect(try child.wait().status == 74)
    }

    @Test(
      "74: a limit on file size is reported; no database is created, and an existing one is sound",
      .disabled(
        if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil,
        "the thread sanitizer begins every program with a larger file of its own"))
    func limit() throws {
      let folder = try WorkingFolder.of([
        "0001_notes": tableOfNotes,
        "0002_large": manifest("INSERT INTO notes VALUES (1, hex(zeroblob(500000)))"),
      ])
      let run = try folder.shell("ulimit -f 200; $schemactl migrate --database app.sqlite")
      #expect(run.status == 74, "\(run.errors)")
      #expect(try folder.names() == ["migrations"])
      try folder.expect(0, "migrate", "--to", "1", "--database", "app.sqlite")
      let again = try folder.shell("ulimit -f 200; $schemactl migrate --database app.sqlite")
      #expect(again.status == 74, "\(again.errors)")
      #expect(try folder.applied() == ["0001_notes"])
      #expect(try folder.rows("PRAGMA integrity_check") == ["ok"])
      try folder.expect(0, "migrate", "--database", "app.sqlite")
    }

    @Test("a full stream is reported once, and the work is done")
    func full() throws {
      let folder = try project()
      let run = try folder.shell("$schemactl migrate >/dev/full; echo $?")
      #expect(run.output == "74\n")
      #expect(run.errors.contains("cannot write standard output"))
      #expect(try folder.applied().count == 7)
    }
  #endif
}
