import SchemaHistory
import SchemaSQLite
import Testing

@Suite("Interruptions")
struct InterruptionTests {
  @Test("an interruption just before a long statement stops it, too")
  func before() throws {
    let connection = try Connection(path: nil)
    let interruption = Interruption()
    interruption.watch(connection)
    interruption.request()
    // SQLite itself ignores an interrupt before the statement starts.
    #expect {
      try connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n")
    } throws: { error in
      (error as? DatabaseError)?.code == .interrupted
    }
  }
}
