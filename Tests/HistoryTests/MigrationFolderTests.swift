import Foundation
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

@Suite("The migrations folder")
struct MigrationFolderTests {
  let temporary: TemporaryFolder

  init() throws {
    temporary = try TemporaryFolder()
  }

  @Test("manifests are sorted by number, whatever its width")
  func order() throws {
    let names = [
      "10_ten", "9_nine", "007_seven", "0_zero", "20261120130000_stamp",
      "99999999999999999999999999_wide", "099999999999999999999999998_narrow",
    ]
    for name in names { try temporary.write(name + ".yaml") }
    #expect(
      try temporary.migrations().map(\.id) == [
        "0_zero", "007_seven", "9_nine", "10_ten", "20261120130000_stamp",
        "099999999999999999999999998_narrow", "99999999999999999999999999_wide",
      ])
    #expect(MigrationNumber(id: "007_x").description == "7")
    #expect(MigrationNumber(id: "000_x").description == "0")
    #expect(MigrationNumber(id: "007_x") == MigrationNumber(id: "7_y"))
  }

  @Test("a migration has the name, path and digests of its file")
  func migration() throws {
    try temporary.write("0001_a.yaml", "# comment\r\noperations: []\r\n")
    let migration = try #require(try temporary.migrations().first)
    #expect(migration.id == "0001_a")
    #expect(migration.file == temporary.path("0001_a.yaml"))
    #expect(migration.manifest.file == migration.file)
    #expect(migration.rawDigest == digest("# comment\noperations: []\n"))
    #expect(migration.canonicalDigest == SHA256.hex(migration.manifest.canonicalForm))
    #expect(migration.hasCarriageReturns)
  }

  @Test("the digests of a manifest never change")
  func pinnedDigests() throws {
    let migration = try Migration("0002_b", "b")
    #expect(
      migration.rawDigest == "189c3274363dec06bb01a6b7c8653f1537584305b770059b52ba9c75dbecb9c3")
    #expect(migration.canonicalDigest == digest("{t10:operations[{t3:sqls6:DELETE4:FROM1:b;}]}"))
    #expect(
      migration.canonicalDigest
        == "15e9fd62b266d72ce4b5c0fb46a183e8444737f4dd0a5f4db8b26f01e389b0c8")
  }

  @Test("the raw digest ignores only CR before LF")
  func loneCarriageReturn() {
    #expect(rawDigest(of: Array("a\r\r\nb\r".utf8)) == digest("a\r\nb\r"))
    #expect(rawDigest(of: Array("a\nb".utf8)) == digest("a\nb"))
  }

  @Test("other names are ignored")
  func otherNames() throws {
    let ignored = [
      "history.lock", "README.md", "0001_a.yaml~", "0001_a.yaml.bak", ".0001_a.yaml.swp",
      "connection.sql", "._0001_a.yaml", "._0001_a.sql", "yaml",
    ]
    for name in ignored { try temporary.write(name, "not: looked at") }
    for name in ["queries/all.sql", "notes/todo.md"] {
      try temporary.makeFolder(of: name)
      try temporary.write(name)
    }
    try FileManager.default.createSymbolicLink(
      atPath: temporary.path(".#0001_a.yaml"), withDestinationPath: "user@host.1234")
    #expect(try temporary.migrations().isEmpty)
  }

  @Test(
    "an invalid name of a migration is an error",
    arguments: [
      ("0001_a.yml", "rename it to `0001_a.yaml`: manifests end in `.yaml`"),
      (".yml", "rename it to `.yaml`: manifests end in `.yaml`"),
      ("0001_a.YAML", "rename it to `0001_a.yaml`: manifests end in `.yaml`"),
      ("0001_a.Yml", "rename it to `0001_a.yaml`: manifests end in `.yaml`"),
      ("0001_a.yamL", "rename it to `0001_a.yaml`: manifests end in `.yaml`"),
      ("a.yaml", "the name has no number: use a name such as `0001_what_it_does.yaml`"),
      (".yaml", "the name has no number: use a name such as `0001_what_it_does.yaml`"),
      ("１_fullwidth.yaml", "the name has no number: use a name such as `0001_what_it_does.yaml`"),
      ("1.yaml", "`_` and a name must follow the number, as in `0001_what_it_does.yaml`"),
      ("1_.yaml", "`_` and a name must follow the number, as in `0001_what_it_does.yaml`"),
      ("1-a.yaml", "`_` and a name must follow the number, as in `0001_what_it_does.yaml`"),
      (
        "1_a b.yaml",
        "the name contains a space: use only letters, digits, `_`, `-` and `.`"
      ),
      ("1_a*.yaml", "the name contains `*`: use only letters, digits, `_`, `-` and `.`"),
      (
        "1_a\n.yaml",
        "the name contains the character U+000A: use only letters, digits, `_`, `-` and `.`"
      ),
      (
        "1_a\u{A0}.yaml",
        "the name contains the character U+00A0: use only letters, digits, `_`, `-` and `.`"
      ),
      (
        "1_a\u{202E}b.yaml",
        "the name contains the character U+202E: use only letters, digits, `_`, `-` and `.`"
      ),
    ])
  func badName(name: String, message: String) throws {
    try temporary.write(name)
    #expect(temporary.problems() == ["\(name): \(message)"])
  }

  @Test("a name that is not UTF-8 is an error")
  func nameNotUTF8() throws {
    let path = Array(temporary.path("1_").utf8) + [0xFF] + Array(".yaml".utf8)
    let name = path.map { CChar(bitPattern: $0) } + [0]
    let descriptor = open(name, O_CREAT | O_WRONLY, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    #expect(temporary.problems() == ["1_\u{FFFD}.yaml: the name is not UTF-8"])
  }

  @Test("names may contain letters of every script, `-` and `.`")
  func goodNames() throws {
    for name in ["1_a-b.c_D9", "2_größe", "3_数字", "4_👩‍👩‍👧"] {
      try temporary.write(name + ".yaml")
    }
    #expect(try temporary.migrations().map(\.id) == ["1_a-b.c_D9", "2_größe", "3_数字", "4_👩‍👩‍👧"])
  }

  @Test(
    "a folder with another tool's history or a nested history is not an empty one",
    arguments: [
      ["0001_a.sql"], ["0001_a.up.SQL", "0001_a.down.SQL"], ["app/0001_a.yaml"],
      ["20260101_init/migration.sql"], ["2026-01-01_init/up.sql"],
    ])
  func otherHistory(names: [String]) throws {
    for name in names {
      try temporary.makeFolder(of: name)
      try temporary.write(name)
    }
    do {
      _ = try temporary.migrations()
      Issue.record("the folder passes")
    } catch let failure as Failure {
      #expect(failure.status == .notFound)
      for name in names {
        let found = name.firstIndex(of: "/").map { String(name[...$0]) } ?? name
        #expect(failure.message.contains(found))
      }
    }
    // Next to a manifest they are ignored.
    try temporary.write("0001_first.yaml")
    #expect(try temporary.migrations().map(\.id) == ["0001_first"])
  }

  @Test("two manifests with one number are an error that names both")
  func duplicateNumber() throws {
    for name in ["007_a.yaml", "7_b.yaml", "8_c.yaml"] { try temporary.write(name) }
    #expect(
      temporary.problems() == [
        "7_b.yaml: `007_a.yaml` has the number 7 too: renumber the one that no database has run "
          + "(`schemactl renumber 007_a` or `schemactl renumber 7_b`)"
      ])
  }

  @Test("all problems of all files are reported in one run, by file and line")
  func everyProblem() throws {
    try temporary.write("1_a.yaml", "first: 1\noperations: []\nsecond: 2\n")
    try temporary.write("2_b.yml")
    try temporary.write("3_c.yaml")
    try temporary.write("03_d.yaml", "third: 3\n")
    try FileManager.default.createDirectory(
      atPath: temporary.path("4_e.yaml"), withIntermediateDirectories: false)
    let keys =
      " in a manifest, which takes `description`, `operations`, `before`, `after`, `foreign_keys`, "
      + "`requires`, `replaces` and `lint`"
    #expect(
      temporary.problems() == [
        "03_d.yaml: unknown key `third`\(keys)", "03_d.yaml: a manifest needs `operations`",
        "1_a.yaml: unknown key `first`\(keys)", "1_a.yaml: unknown key `second`\(keys)",
        "2_b.yml: rename it to `2_b.yaml`: manifests end in `.yaml`",
        "3_c.yaml: `03_d.yaml` has the number 3 too: renumber the one that no database has run "
          + "(`schemactl renumber 03_d` or `schemactl renumber 3_c`)",
        "4_e.yaml: is not a regular file",
      ])
  }

  @Test("pipes and links to pipes or devices are errors, without waiting for them")
  func specialFiles() throws {
    #expect(mkfifo(temporary.path("1_pipe.yaml"), 0o600) == 0)
    #expect(mkfifo(temporary.path("pipe"), 0o600) == 0)
    try link("2_link.yaml", to: "pipe")
    try link("3_device.yaml", to: "/dev/zero")
    #expect(
      temporary.problems() == [
        "1_pipe.yaml: is not a regular file", "2_link.yaml: is not a regular file",
        "3_device.yaml: is a link that leads out of the folder, to `/dev/zero`: "
          + "put the file itself here",
      ])
  }

  @Test("a link inside the folder is followed; external, dangling and circular links are errors")
  func links() throws {
    let outside = try TemporaryFolder()
    try outside.write("secret", "")
    try temporary.write("shared", "operations: [] # shared")
    try link("1_inside.yaml", to: "shared")
    #expect(try temporary.migrations().map(\.rawDigest) == [digest("operations: [] # shared")])

    try link("2_outside.yaml", to: outside.path("secret"))
    try link("3_nowhere.yaml", to: "missing")
    try link("4_circle.yaml", to: "4_circle.yaml")
    // Another folder whose name begins with this folder's name.
    try FileManager.default.createDirectory(
      atPath: temporary.path + "-2", withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: temporary.path + "-2") }
    try Data().write(to: URL(fileURLWithPath: temporary.path + "-2/file"))
    try link("5_neighbour.yaml", to: temporary.path + "-2/file")
    let target = try #require(realpath(outside.path("secret"), nil))
    defer { free(target) }
    #expect(
      temporary.problems() == [
        "2_outside.yaml: is a link that leads out of the folder, to `\(String(cString: target))`: "
          + "put the file itself here",
        "3_nowhere.yaml: is a broken link: No such file or directory",
        "4_circle.yaml: is a broken link: Too many levels of symbolic links",
        "5_neighbour.yaml: is a link that leads out of the folder, to `FOLDER-2/file`: "
          + "put the file itself here",
      ])
  }

  @Test("a folder behind a link is read")
  func linkedFolder() throws {
    try temporary.write("shared")
    try temporary.write("1_a.yaml")
    try link("2_b.yaml", to: "shared")
    let other = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: other.path("link"), withDestinationPath: temporary.path)
    #expect(
      try MigrationFolder(other.path("link/")).migrations().map(\.file)
        == [other.path("link/1_a.yaml"), other.path("link/2_b.yaml")])
  }

  @Test("a manifest over 8 MiB is refused without reading it", .thorough)
  func tooLarge() throws {
    // A sparse file: reading it would need more memory than the machine has.
    try temporary.write("1_a.yaml")
    #expect(truncate(temporary.path("1_a.yaml"), 1 << 42) == 0)
    let manifest = "operations: []\n#"
    let padding = String(repeating: "x", count: MigrationFolder.manifestSizeLimit - manifest.count)
    try temporary.write("2_b.yaml", manifest + padding)
    #expect(temporary.problems() == ["1_a.yaml: is larger than 8 MiB"])
  }

  @Test("an empty folder is a history, and a missing folder a separate error")
  func missingFolder() throws {
    #expect(try temporary.migrations().isEmpty)
    let missing = #expect(throws: Failure.self) {
      try MigrationFolder(temporary.path("missing")).migrations()
    }
    #expect(missing?.status == .notFound)
    #expect(missing?.message.contains("`\(temporary.path("missing"))` does not exist") == true)
    try temporary.write("file", "")
    let unreadable = #expect(throws: Failure.self) {
      try MigrationFolder(temporary.path("file")).migrations()
    }
    #expect(unreadable?.message.contains("Not a directory") == true)
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: temporary.path(name), withDestinationPath: target)
  }
}
