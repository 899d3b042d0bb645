import Foundation
import SchemaJSONChecking
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Lists of databases")
struct ListTests {
  @Test(
    "names are separated by line feeds or NULs, in a file or on standard input",
    arguments: ["\n", "\0"], [true, false])
  func lists(separator: String, isFile: Bool) throws {
    let tenants = try Tenants(2)
    try tenants.copy(to: "tenants/a b\u{E9}.sqlite")
    let names = [Tenants.name(0), "tenants/a b\u{E9}.sqlite"]
    // The last entry needs no separator, and empty entries are ignored.
    let list = names[0] + separator + separator + names[1]
    try tenants.write("list", list)
    let run =
      isFile
      ? try tenants.fleet("migrate", "--databases-from", "list", "--format", "jsonl")
      : try tenants.fleet("migrate", "--databases", "-", "--format", "jsonl", input: list)
    #expect(run.code == 0)
    #expect(try Set(run.states.keys) == Set(names))
    #expect(try !tenants.isMigrated(Tenants.name(1)))
  }

  @Test("a name with a line feed requires a list with NULs")
  func lineEnd() throws {
    let tenants = try Tenants(1)
    try tenants.copy(to: "tenants/a\nb.sqlite")
    let run = try tenants.fleet(
      "migrate", "--databases-from", "-", "--format", "jsonl",
      input: "tenants/a\nb.sqlite\0\(Tenants.name(0))\0")
    #expect(run.code == 0)
    #expect(try Set(run.states.keys) == ["tenants/a\nb.sqlite", Tenants.name(0)])
  }

  @Test("duplicate names, links and second names of a file are refused")
  func twice() throws {
    let tenants = try Tenants(2)
    let manager = FileManager.default
    try manager.createSymbolicLink(
      atPath: tenants.path("tenants/link.sqlite"), withDestinationPath: "001.sqlite")
    try manager.linkItem(
      atPath: tenants.path(Tenants.name(1)), toPath: tenants.path("tenants/second.sqlite"))
    let pairs = [
      (Tenants.name(0), Tenants.name(0), "the list names `\(Tenants.name(0))` twice"),
      (Tenants.name(0), "tenants/link.sqlite", "are two names of one file"),
      (Tenants.name(1), "tenants/second.sqlite", "are two names of one file"),
      (Tenants.name(1), "./\(Tenants.name(1))", "are two names of one file"),
    ]
    for (first, second, message) in pairs {
      let run = try tenants.fleet("migrate", "--databases", first, "--databases", second)
      #expect(run.code == 65)
      #expect(run.errors.contains(message), "\(run.errors)")
    }
    #expect(try !tenants.isMigrated(Tenants.name(0)))
  }

  @Test("two missing databases are different files")
  func missing() throws {
    let run = try Tenants(0).fleet(
      "status", "--databases", "a.sqlite", "--databases", "b.sqlite", "--format", "jsonl")
    #expect(run.code == 66)
    #expect(try run.states == ["a.sqlite": "failed 66", "b.sqlite": "failed 66"])
  }

  @Test("a missing name and patterns without a match are errors")
  func nothing() throws {
    let tenants = try Tenants(1)
    #expect(try tenants.fleet("migrate", "--databases-from", "-", input: "\n\n").code == 66)
    #expect(try tenants.fleet("migrate", "--databases", "tenants/*.db").code == 66)
    #expect(try tenants.fleet("migrate", "--databases", "none/*.sqlite").code == 66)
    #expect(try tenants.fleet("migrate", "--databases-from", "none").code == 66)
    #expect(try tenants.fleet("migrate").code == 64)
  }

  @Test(
    "patterns match names in folders, and ** matches any number of folders",
    arguments: [
      ("tenants/*.sqlite", ["tenants/001.sqlite", "tenants/002.sqlite"]),
      ("tenants/00[^1].sqlite", ["tenants/002.sqlite"]),
      ("tenants/00[!1].sqlite", ["tenants/002.sqlite"]),
      ("./tenants/00?.sqlite", ["./tenants/001.sqlite", "./tenants/002.sqlite"]),
      ("tenants/*/db.sqlite", ["tenants/a/db.sqlite", "tenants/b/db.sqlite"]),
      ("*/b/*.sqlite", ["tenants/b/db.sqlite"]),
      (
        "tenants/**/*.sqlite",
        [
          "tenants/001.sqlite", "tenants/002.sqlite", "tenants/a/db.sqlite",
          "tenants/a/deep/c.sqlite", "tenants/b/db.sqlite",
        ]
      ),
      (
        "tenants/**",
        [
          "tenants/001.sqlite", "tenants/002.sqlite", "tenants/a/db.sqlite",
          "tenants/a/deep/c.sqlite", "tenants/b/db.sqlite",
        ]
      ),
      ("**/deep/**/*.sqlite", ["tenants/a/deep/c.sqlite"]),
      ("tenants/.h*/db.sqlite", ["tenants/.hidden/db.sqlite"]),
    ])
  func patterns(pattern: String, expected: [String]) throws {
    let tenants = try Tenants(2)
    for folder in ["a/deep", "b", ".hidden"] {
      try FileManager.default.createDirectory(
        atPath: tenants.path("tenants/\(folder)"), withIntermediateDirectories: true)
    }
    for name in ["a/db", "b/db", "a/deep/c", ".hidden/db"] {
      try tenants.copy(to: "tenants/\(name).sqlite")
    }
    let run = try tenants.fleet(
      "status", "--databases", pattern, "--format", "jsonl", "--jobs", "1")
    #expect(run.code == 0)
    let names = try run.lines.compactMap { line -> String? in
      if case .string(let name) = line["database"] { name } else { nil }
    }
    #expect(names == expected)
  }

  @Test("patterns skip journals, logs, backups and copies of a database")
  func sideFiles() throws {
    let tenants = try Tenants(1)
    let name = Tenants.name(0)
    for suffix in [
      "-journal", "-wal", "-shm", ".before-drafts", ".before-drafts-of-mine", ".before-reset",
      ".before-reset-2",
      ".backup-0001-20261120T130000Z",
    ] {
      try tenants.write(name + suffix, "")
    }
    try tenants.copy(to: "tenants/my-journal")
    let run = try tenants.fleet("status", "--databases", "tenants/*", "--format", "jsonl")
    #expect(try Set(run.states.keys) == [name, "tenants/my-journal"])
  }

  @Test("a name that is not UTF-8 is refused, not skipped")
  func notUTF8() throws {
    let tenants = try Tenants(1)
    let made = try SchemaTestPrograms.run(
      "/bin/sh", ["-c", "cp tenants/001.sqlite \"tenants/$(printf '\\377').sqlite\""],
      in: tenants.folder)
    #expect(made.code == 0)
    let run = try tenants.fleet("migrate", "--databases", "tenants/*.sqlite")
    #expect(run.code == 65)
    #expect(run.errors.contains("is not UTF-8"))
    #expect(try !tenants.isMigrated(Tenants.name(0)))
  }
}
