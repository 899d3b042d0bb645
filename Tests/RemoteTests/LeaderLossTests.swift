import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Loss of leaders", .needsDqlite, .thorough)
struct LeaderLossTests {
  @Test("every migration runs exactly once on every node while leaders are killed")
  func kills() throws {
    let cluster = try TestCluster()
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      "CREATE TABLE runs (n INTEGER); CREATE TABLE total (n INTEGER);\n"
        + "INSERT INTO total VALUES (1); INSERT INTO runs VALUES (1);")
    let count = 100
    for number in 2...count {
      try sandbox.addSQL(
        String(format: "%04d_change", number),
        "CREATE TABLE t\(number) (a);\nINSERT INTO runs VALUES (\(number));\n"
          + "UPDATE total SET n = n + 1;")
    }
    // Half of the kills happen between two statements, the others during COMMIT.
    var generator = SeededGenerator(seed: 25)
    var kills = Set((0..<5).map { _ in Int.random(in: 1...(count * 4), using: &generator) })
    while kills.count < 5 { kills.insert(Int.random(in: 1...(count * 4), using: &generator)) }
    var events = 0
    let group = DispatchGroup()
    let remote = try cluster.cluster(timeout: 60)
    let report = try sandbox.project().migrate(sandbox.options(), on: remote) { event in
      switch event {
      case .ran, .willCommit: events += 1
      default: return
      }
      guard kills.contains(events) else { return }
      if case .willCommit = event {
        group.wait()
        DispatchQueue.global().async(group: group) { try? cluster.replaceLeader() }
      } else {
        group.wait()
        try? cluster.replaceLeader()
      }
    }
    group.wait()
    #expect(report.failure?.message == nil)
    #expect(report.applied.count == count)
    for node in cluster.nodes {
      try cluster.lead(by: node)
      let leader = try cluster.leader()
      #expect(leader.node == node)
      #expect(
        try leader.rows("SELECT count(*), count(DISTINCT n), (SELECT n FROM total) FROM runs")
          == [[.integer(Int64(count)), .integer(Int64(count)), .integer(Int64(count))]])
      #expect(
        try leader.rows("SELECT count(*) FROM schemactl_migrations")
          == [[.integer(Int64(count))]])
      let copy = try ClusterCopy(of: cluster.cluster(), for: sandbox.project())
      #expect(try sandbox.project().verify(copy.readable).status == .success)
    }
    #expect(cluster.hasAllNodes)
  }

  @Test("a cluster without a leader is busy, and an unreachable one is an I/O error")
  func noLeader() throws {
    let address = try #require(try ClusterAddress("dqlite://127.0.0.1:1/app.db"))
    #expect {
      _ = try Cluster(address, timeout: 0.1).leader()
    } throws: { ($0 as? Failure)?.status == .inputOutput }
  }
}
