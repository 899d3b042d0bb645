import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// Invalid files in the place of a database, a manifest or the lock.
@Suite("Hostile files")
struct HostileFileTests {
  private static let commands = [
    ["migrate"], ["migrate", "--dry-run"], ["status"], ["verify"], ["diff"], ["plan"],
  ]

  // MARK: Instead of a database

  @Test(
    "74: a file that is not a database is named and remains unchanged",
    arguments: [
      Data([7, 7]), Data("SQLite format 3\0".utf8), Data(repeating: 0, count: 99),
      Data("SQLite format 3\0".utf8) + Data(repeating: 0xFF, count: 84),
      Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }),
    ])
  func noDatabase(bytes: Data) throws {
    let folder = try WorkingFolder.ofReminders()
    try bytes.write(to: URL(fileURLWithPath: folder.path("app.sqlite")))
    try expectRefusal(
      74, folder, saying: "`app.sqlite` is not an SQLite database, or it is encrypted")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite"))) == bytes)
  }

  /// On some file systems SQLite itself leaves one byte in new files.
  @Test(
    "a file with zero bytes or one byte is an empty database, as in SQLite", arguments: ["", "\0"])
  func empty(text: String) throws {
    let folder = try WorkingFolder.ofReminders()
    try folder.write("app.sqlite", text)
    try folder.expect(0, "status", "--database", "app.sqlite")
    #expect(try String(contentsOfFile: folder.path("app.sqlite"), encoding: .utf8) == text)
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try folder.applied().count == 7)
  }

  @Test("74: a truncated database is reported as damaged and remains unchanged")
  func cutOff() throws {
    let folder = try migrated(through: "6")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite")))
    let half = bytes.prefix(bytes.count / 2)
    try half.write(to: URL(fileURLWithPath: folder.path("app.sqlite")))
    for command in [["migrate"], ["migrate", "--dry-run"]] {
      let run = try folder.start(command + ["--database", "app.sqlite"]).wait()
      #expect(run.status == 74, "\(command): \(run.errors)")
      #expect(run.errors.contains("`app.sqlite` is damaged"))
      #expect(run.errors.contains("Restore it from a backup"))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite"))) == half)
  }

  @Test("74: a database of a newer SQLite is reported")
  func laterFormat() throws {
    let folder = try migrated(through: "6")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite")))
    bytes[47] = 5
    try bytes.write(to: URL(fileURLWithPath: folder.path("app.sqlite")))
    try expectRefusal(74, folder, saying: "a newer SQLite created it, or it is damaged")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("app.sqlite"))) == bytes)
  }

  @Test("an unfinished transaction of a killed process is rolled back")
  func rolledBack() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let writer = try folder.connection()
    try writer.execute(
      """
      CREATE TABLE own AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
        SELECT 'whole' AS state, zeroblob(900) AS more FROM n;
      PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE own SET state = 'half';
      """)
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(
        atPath: folder.path("app.sqlite" + suffix), toPath: folder.path("left.sqlite" + suffix))
    }
    try folder.expect(0, "status", "--database", "left.sqlite")
    #expect(try folder.rows("SELECT DISTINCT state FROM own", in: "left.sqlite") == ["whole"])
  }

  @Test("a special file is neither opened nor waited for")
  func noFile() throws {
    let folder = try WorkingFolder.ofReminders()
    #expect(mkfifo(folder.path("app.sqlite"), 0o600) == 0)
    try expectRefusal(74, folder, saying: "`app.sqlite` is a special file")
    try folder.remove("app.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("app.sqlite"), withDestinationPath: "/dev/zero")
    try expectRefusal(74, folder, saying: "`app.sqlite` is a special file")
    try folder.remove("app.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("app.sqlite"), withDestinationPath: "/dev/null")
    try expectRefusal(74, folder, saying: "`app.sqlite` is a special file")
    try folder.remove("app.sqlite")
    try makeSocket(folder.path("app.sqlite"))
    try expectRefusal(74, folder, saying: "`app.sqlite` is a special file")
    try folder.remove("app.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("app.sqlite"), withDestinationPath: "app.sqlite")
    try expectRefusal(
      74, folder, saying: "cannot open `app.sqlite`: Too many levels of symbolic links")
  }

  private func makeSocket(_ path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The path of a socket must be short, so create it under a short name and move it.
    let short = "/tmp/s\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: short.utf8) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(code == 0 && rename(short, path) == 0)
  }

  private func expectRefusal(
    _ status: Int32, _ folder: WorkingFolder, saying text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for command in Self.commands {
      let run = try folder.start(command + ["--database", "app.sqlite"]).wait()
      #expect(run.status == status, "\(command): \(run.errors)", sourceLocation: sourceLocation)
      #expect(
        run.errors.contains(text), "\(command): \(run.errors)", sourceLocation: sourceLocation)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before,
      sourceLocation: sourceLocation)
  }

  // MARK: Instead of manifests, the lock, the configuration

  @Test("an invalid entry of the folder is named and not waited for")
  func entries() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try folder.write("outside.yaml", "operations: []\n")
    #expect(mkfifo(folder.path("migrations/0002_pipe.yaml"), 0o600) == 0)
    try makeSocket(folder.path("migrations/0003_socket.yaml"))
    try folder.makeFolder("migrations/0004_folder.yaml")
    for (name, target) in [
      "0005_out": "../outside.yaml", "0006_loop": "0006_loop.yaml", "0007_zero": "/dev/zero",
      "0008_nothing": "nothing.yaml", "0009_up": "..",
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("migrations/\(name).yaml"), withDestinationPath: target)
    }
    try folder.write("migrations/0010_\u{1B}[31m\nred.yaml", "operations: []\n")
    try folder.makeSparse("migrations/0011_huge.yaml", bytes: 1 << 40)
    let run = try folder.expect(65, "migrate", "--database", "app.sqlite")
    for name in [
      "0002_pipe", "0003_socket", "0004_folder", "0005_out", "0006_loop", "0007_zero",
      "0008_nothing", "0009_up", "0011_huge",
    ] {
      #expect(run.errors.contains("migrations/\(name).yaml: error: "), "\(name): \(run.errors)")
    }
    #expect(run.errors.contains("0010_\\u{1B}[31m\\u{A}red.yaml"), "\(run.errors)")
    #expect(!folder.exists("app.sqlite"))
  }

  @Test("a lock that is a special file or an external link is neither read nor written")
  func lock() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    let lock = "migrations/history.lock"
    #expect(mkfifo(folder.path(lock), 0o600) == 0)
    try expectNoLock(folder)
    try folder.remove(lock)
    try folder.makeFolder(lock)
    try expectNoLock(folder)
    try folder.remove(lock)
    for target in ["/dev/zero", "history.lock", "../nothing"] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(lock), withDestinationPath: target)
      try expectNoLock(folder)
      try folder.remove(lock)
    }
    #expect(!folder.exists("nothing"))
  }

  private func expectNoLock(_ folder: WorkingFolder) throws {
    for command in [["verify"], ["freeze", "--release", "1.0"], ["check"]] {
      let run = try folder.start(command).wait()
      #expect([2, 65, 66, 74].contains(run.status), "\(command): \(run.status) \(run.errors)")
      #expect((run.errors + run.output).contains("history.lock"), "\(run.errors)")
    }
  }

  @Test("a configuration that is a special file is not waited for")
  func configuration() throws {
    let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
    #expect(mkfifo(folder.path("schemactl.yaml"), 0o600) == 0)
    for arguments in [["plan"], ["plan", "--config", "/dev/zero"], ["plan", "--config", "."]] {
      let run = try folder.start(arguments).wait()
      #expect([65, 66, 74].contains(run.status), "\(arguments): \(run.status) \(run.errors)")
    }
    try folder.remove("schemactl.yaml")
    try folder.makeSparse("schemactl.yaml", bytes: 1 << 40)
    #expect(try folder.run("plan").errors.contains("is larger than 1 MiB"))
  }

  // MARK: Control characters

  /// Colours, a bell, a window title, a C1 control, a line feed and a change of the direction of
  /// writing.
  private static let drive =
    "\u{1B}[31mred\u{1B}]0;owned\u{7}\u{9B}2J\r\nerror: all is lost\u{202E}\u{7F}\u{8}"
    + "\u{200B}\u{2028}\t\n  ::error::x ##[group]y ##vso[z]"

  @Test(
    "control characters from databases and manifests are escaped in every command and format",
    arguments: oneIn(2, of: ["text", "json", "sarif", "github", "xcode"]))
  func controlCharacters(format: String) throws {
    let folder = try driven()
    let name = Self.drive
    let commands: [[String]] = [
      ["migrate"], ["migrate", "--dry-run"], ["status"], ["verify"], ["diff"],
      ["repair", name, "absent", "--reason", name, "--force"],
      ["migrate", "--to", name], ["lint"], ["check"], ["check", "--base", name],
      ["verify", "--base", name], ["lint", "--explain", name], ["freeze", "--release", name],
      ["freeze", "--accept", "1", "--reason", name], ["freeze", "--accept", name, "--reason", "x"],
      ["renumber", "--dry-run"], ["new", name], ["schema", name], ["completions", name],
      ["plan", "--to", name], [name], ["plan", "--\(name)"], ["status", "--database", name],
      ["plan", "--migrations", name], ["plan", "--config", name],
    ]
    for words in commands {
      // Not every command has this option.
      let database =
        words.contains("--database") ? [:] : ["SCHEMACTL_DATABASE": folder.path("app.sqlite")]
      try folder.write("migrations/0003_values.yaml", valuesManifest)
      let run = try folder.start(words + ["--format", format], environment: database).wait()
      expectHarmless(run, words + [format])
    }
  }

  @Test("values and names in the message of a failed migration are escaped")
  func failing() throws {
    let folder = try driven()
    for format in ["text", "json"] {
      let run = try folder.run("migrate", "--database", "own.sqlite", "--format", format)
      #expect(run.status == 3, "\(run.errors)\(run.output)")
      #expect((run.output + run.errors).contains("[31mred"))
      expectHarmless(run, [format])
    }
  }

  private func expectHarmless(_ run: Finished, _ arguments: [String]) {
    let text = run.output + run.errors
    let isJSON = !Set(arguments).isDisjoint(with: ["json", "sarif"])
    let bad = text.unicodeScalars.filter {
      $0.value < 0x20 && $0 != "\n" || (0x7F..<0xA0).contains($0.value)
        || ["\u{202E}", "\u{200B}", "\u{2028}"].contains($0)
    }
    #expect(bad.isEmpty, "\(arguments.map { $0.debugDescription }): \(text.debugDescription)")
    let forged = text.split(separator: "\n").contains { line in
      let line = line.drop { $0 == " " }
      let isCommand =
        line.hasPrefix("::") && line.contains("::x") && !line.hasPrefix("::error file=")
        && !line.hasPrefix("::error title=") && !line.hasPrefix("::warning file=")
      return line.hasPrefix("error: all is lost") || isCommand
        || !isJSON && (line.contains("##[") || line.contains("##vso["))
    }
    #expect(!forged, "\(arguments.map { $0.debugDescription }): \(text.debugDescription)")
  }

  private var quotedDrive: String {
    "\"\\e[31mred\\e]0;owned\\a\\x9B2J\\r\\nerror: all is lost\\u202E\\x7F\\b"
      + "\\u200B\\u2028\\t\\n  ::error::x ##[group]y ##vso[z]\""
  }

  private var valuesManifest: String {
    """
    description: \(quotedDrive)
    operations:
      - move_column:
          table: notes
          from: text
          to: { name: \(quotedDrive), type: TEXT }
          map: { 1: 2 }
    lint: { allow: [{ rule: rename-column, reason: \(quotedDrive) }] }

    """
  }

  /// A database and manifests with control characters in every name and value.
  private func driven() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_notes": """
      description: \(quotedDrive)
      operations:
        - create_table:
            name: notes
            columns: [{ name: id, type: INTEGER, primary_key: true }, { name: text, type: TEXT }]

      """,
      "0002_rows": """
      operations:
        - insert: { table: notes, rows: [{ text: \(quotedDrive) }] }
        - create_table: { name: \(quotedDrive), columns: [{ name: \(quotedDrive), default: \(quotedDrive) }] }

      """,
      "0003_values": valuesManifest,
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--to", "2")
    try folder.expect(0, "migrate", "--database", "own.sqlite", "--to", "2")
    let name = "\"\(Self.drive)"
    let connection = try folder.connection()
    try connection.execute(
      """
      CREATE TABLE \(name)1" (\(name)" TEXT DEFAULT '\(Self.drive)');
      CREATE VIEW \(name)2" AS SELECT '\(Self.drive)';
      CREATE INDEX \(name)3" ON notes (text);
      CREATE TRIGGER \(name)4" AFTER INSERT ON notes BEGIN SELECT '\(Self.drive)'; END;
      """)
    try connection.execute(
      """
      INSERT INTO schemactl_migrations SELECT ?1, 9, ?1, ?1, ?1, ?1, 9, ?1
      """, [.text(Self.drive)])
    return folder
  }
}

extension WorkingFolder {
  /// Creates a file of zeros that uses no disk space.
  fileprivate func makeSparse(_ name: String, bytes: Int) throws {
    try write(name, "")
    #expect(truncate(path(name), off_t(bytes)) == 0)
  }
}
