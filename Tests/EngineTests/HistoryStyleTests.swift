import Foundation
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Histories in different styles")
struct HistoryStyleTests {
  /// Histories that are tested in addition to those below.
  /// `SCHEMACTL_HISTORIES=…/histories swift test --filter HistoryStyleTests` reads a folder with one
  /// subfolder for each history, whose `.sql` files are migrations in the order of their names.
  private static let given: [(name: String, files: [String])] = {
    guard let folder = ProcessInfo.processInfo.environment["SCHEMACTL_HISTORIES"],
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
    else { return [] }
    return names.sorted().map { name in
      let path = folder + "/" + name
      let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return (
        name,
        files.filter { $0.hasSuffix(".sql") }.sorted().compactMap {
          try? String(contentsOfFile: path + "/" + $0, encoding: .utf8)
        }
      )
    }
  }()

  @Test(
    "replays match the sqlite3 shell, and each rebuilt table is equal to the original",
    arguments: oneIn(2, of: WrittenHistory.all))
  func own(history: WrittenHistory) throws {
    var trial = try HistoryTrial(history.files)
    let problems = try trial.problems()
    #expect(problems.isEmpty, "\(problems)")
    #expect(trial.statements > 0 && trial.tables > 0 && trial.rows > 0)
  }

  @Test("the comparison detects a difference from the shell and a row lost by a rebuild")
  func harness() throws {
    let connection = try Connection(path: nil)
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), ('1')")
    let before = try DatabaseContent(connection)
    try connection.execute("UPDATE t SET rowid = 7 WHERE rowid = 2")
    #expect(try !before.differences(from: DatabaseContent(connection)).isEmpty)
    try connection.execute("UPDATE t SET rowid = 2 WHERE rowid = 7")
    #expect(try before.differences(from: DatabaseContent(connection)) == [])
    try connection.execute("UPDATE t SET a = 1 WHERE rowid = 2")
    #expect(try !before.differences(from: DatabaseContent(connection)).isEmpty)
    // A history that cannot be applied is a problem.
    var trial = try HistoryTrial(["CREATE TABLE t (a); ATTACH ':memory:' AS x"])
    #expect(try trial.problems().first?.hasPrefix("not applied: ") == true)
  }

  @Test("histories of a folder in an environment variable are replayed, too")
  func givenHistories() throws {
    var sums = (files: 0, statements: 0, tables: 0, rows: 0, differing: 0)
    for (name, files) in Self.given {
      var trial = try HistoryTrial(files)
      let problems = try trial.problems()
      #expect(problems.isEmpty, "\(name): \(problems)")
      sums.files += files.count
      sums.statements += trial.statements
      sums.tables += trial.tables
      sums.rows += trial.rows
      sums.differing += problems.isEmpty ? 0 : 1
    }
    if !Self.given.isEmpty { print("\(Self.given.count) histories: \(sums)") }
  }
}
