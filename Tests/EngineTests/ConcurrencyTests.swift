import SchemaHistory
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Two processes at once")
struct ConcurrencyTests {
  @Test(
    "each migration is in the ledger once, and one process has nothing to do",
    arguments: [false, true])
  func together(startsWithDatabase: Bool) throws {
    let sandbox = try Sandbox.reminders()
    if startsWithDatabase { try sandbox.makeRelease1(reminders: 2000) }
    let running = try (0..<4).map { _ in try start("schemactl", sandbox.migrateArguments) }
    let ended = try running.map { try $0.wait() }
    for one in ended { #expect([0, 75].contains(one.code), "\(one.errors)") }
    #expect(ended.contains { $0.code == 0 })
    let ids = try sandbox.project().migrations.map(\.id)
    #expect(try sandbox.ledger == ids)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }
}

extension Sandbox {
  /// The arguments that migrate its database in another process.
  var migrateArguments: [String] {
    ["migrate", "--migrations", folder + "/migrations", "--database", database]
  }
}
