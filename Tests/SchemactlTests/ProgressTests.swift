import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

#if os(Linux)
  @Suite("Progress on a terminal")
  struct ProgressTests {
    /// The output of a run with a terminal as its standard error.
    private func lines(
      _ folder: WorkingFolder, _ arguments: [String] = [], columns: UInt16 = 80,
      environment: [String: String] = [:]
    ) throws -> [(text: String, time: ContinuousClock.Instant)] {
      let terminal = try Terminal(columns: columns)
      let child = try folder.start(
        ["migrate", "--database", "app.sqlite"] + arguments,
        environment: ["TERM": "xterm"].merging(environment) { $1 }, errors: terminal.handle)
      let pieces = terminal.readPieces()
      #expect(try child.wait().status == 0)
      return pieces.flatMap { piece in
        piece.text.components(separatedBy: "\r\u{1B}[K").map { ($0, piece.time) }
      }
    }

    private func rows(_ count: Int, in folder: WorkingFolder) throws {
      try folder.connection().execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO notes (text) SELECT hex(zeroblob(60)) || i FROM n
        """)
    }

    private func notes(_ second: String, rows count: Int) throws -> WorkingFolder {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      try rows(count, in: folder)
      try folder.write("migrations/0002_titles.yaml", second)
      return folder
    }

    @Test("one line shows the progress and is removed at the end")
    func progress() throws {
      let folder = try WorkingFolder.ofReminders()
      let lines = try self.lines(folder).map(\.text)
      #expect(lines.contains("0001_create_lists_and_reminders 1/7 …"), "\(lines)")
      #expect(lines.last?.isEmpty == true)
      #expect(try self.lines(WorkingFolder.ofReminders(), ["--quiet"]).map(\.text) == [])
    }

    @Test(
      "of many databases, one line says how many are done, failed and left",
      arguments: [true, false])
    func fleet(isTerminal: Bool) throws {
      let folder = try WorkingFolder.of(["0001_notes": tableOfNotes])
      for name in ["a", "b", "c", "d"] {
        try folder.expect(0, "migrate", "--database", "\(name).sqlite")
      }
      try folder.write("migrations/0002_more.yaml", manifest("CREATE TABLE more (id)"))
      try folder.write("b.sqlite", "")
      // The others are done while this one is waited for, longer than the interval of the reports.
      let writer = try folder.connection("c.sqlite")
      try writer.execute("BEGIN IMMEDIATE")
      let terminal = try Terminal(columns: 80)
      let child = try folder.start(
        ["fleet", "migrate", "--databases", "*.sqlite", "--jobs", "1", "--timeout", "0.2"],
        environment: ["TERM": isTerminal ? "xterm" : "dumb"], errors: terminal.handle)
      let lines = terminal.readToEnd().components(separatedBy: "\r\u{1B}[K")
      #expect(try child.wait().status == 75)
      guard isTerminal else {
        #expect(lines == [""])
        return
      }
      #expect(lines.contains("0 of 4 databases done, 0 failed, 4 left, 0/s …"), "\(lines)")
      #expect(
        lines.contains { $0.hasPrefix("3 of 4 databases done, 1 failed, 1 left, ") }, "\(lines)")
      #expect(lines.last?.isEmpty == true)
      try writer.execute("ROLLBACK")
    }

    @Test("the line fits the width of the terminal", arguments: [UInt16(40), 80, 200])
    func width(columns: UInt16) throws {
      let folder = try notes(
        manifest("UPDATE notes SET text = lower(text) || hex(text)"), rows: 60_000)
      let lines = try self.lines(folder, columns: columns).map(\.text).filter {
        !$0.contains("note:")
      }
      #expect(lines.allSatisfy { $0.count < Int(columns) }, "\(lines)")
      #expect(lines.contains { $0.hasPrefix("update notes") }, "\(lines)")
      #expect(lines.contains { $0.hasPrefix("commit") }, "\(lines)")
      // The progress of the update is shown only if it takes longer than the interval of reports.
      #expect(columns > 40 || !lines.contains { $0.contains(" rows (0002_titles") }, "\(lines)")
    }

    @Test("a terminal that cannot overwrite a line gets none")
    func dumb() throws {
      let text = try self.lines(WorkingFolder.ofReminders(), environment: ["TERM": "dumb"]).map(
        \.text)
      #expect(!text.joined().contains("…") && !text.joined().contains("\u{1B}"), "\(text)")
    }

    /// Checks estimates from two seconds on, because the line counts whole seconds.
    @Test(
      "the estimated time for two million rows is correct within a factor of two", .thorough)
    func honest() throws {
      let folder = try notes(
        "operations:\n- alter_column: { table: notes, column: text, type: BLOB }\n",
        rows: 2_000_000)
      // A line is empty where a read of the terminal begins with the code that clears the line.
      let lines = try self.lines(folder, columns: 200).filter { !$0.text.isEmpty }
      let phases = lines.map { $0.text.prefix { $0 != " " } }
      for (index, line) in lines.enumerated() {
        guard let found = line.text.firstMatch(of: /, ([0-9]+) s left in this phase/),
          let left = Double(found.output.1), left >= 2
        else { continue }
        let end = lines.indices[index...].first { phases[$0] != phases[index] } ?? index
        let actual = Double((lines[end].time - line.time).components.seconds)
        #expect(actual >= left / 2 - 1 && actual <= left * 2 + 2, "\(line.text): \(actual) s")
      }
      #expect(phases.contains("copy"))
    }
  }
#endif
