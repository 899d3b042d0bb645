import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The connection to the leader of a cluster. If the connection is lost, `Cluster` finds the new leader.
package final class Cluster {
  package let address: ClusterAddress
  /// The time to wait for a leader or a lock, in seconds.
  package let timeout: Double
  let interruption: Interruption
  private let onWait: (Double) -> Void
  private var nodes: [String]
  private var connection: NodeConnection?

  private static let pause: UInt32 = 20_000
  /// The time limit for asking a node for the leader, in seconds. It is short, so that a node that does not
  /// answer leaves time for the others.
  private static let patience = 1.0

  package init(
    _ address: ClusterAddress, timeout: Double, interruption: Interruption = Interruption(),
    onWait: @escaping (Double) -> Void = { _ in }
  ) {
    self.address = address
    self.timeout = timeout
    self.interruption = interruption
    self.onWait = onWait
    nodes = address.nodes
  }

  /// Closes the connection. Then the leader rolls back an open transaction.
  func disconnect() { connection = nil }

  /// Returns the connection to the leader, with the database open and foreign keys off.
  package func leader() throws(Failure) -> NodeConnection {
    if let connection { return connection }
    var problem: DatabaseError?
    let time = Stopwatch()
    repeat {
      for node in nodes {
        do throws(DatabaseError) {
          guard let found = try leader(askedFrom: node) else { continue }
          connection = found
          return found
        } catch  where error.asksForAnotherLeader {
          problem = error
        } catch {
          throw failure(error)
        }
      }
      try pause(since: time)
    } while time.seconds < timeout
    if let problem, problem.isLostConnection {
      throw Failure(
        .inputOutput, "schemactl cannot reach a node of `\(address.text)`: \(problem.message)",
        remedy: "Make sure that most of its nodes run, and try again")
    }
    throw Failure(
      .busy, "`\(address.text)` has no leader",
      remedy: "Make sure that most of its nodes run, or wait longer with `--timeout`")
  }

  /// Asks a node for the leader, and connects to the leader.
  ///
  /// - Returns: nil if the node knows no leader, or names a node that is no longer the leader.
  private func leader(askedFrom node: String) throws(DatabaseError) -> NodeConnection? {
    let first = try connect(to: node, Self.patience)
    guard let leader = try first.leader() else { return nil }
    // Statements may take longer than a node takes to answer a simple request.
    let found = try connect(to: leader, max(timeout, 10))
    guard try found.leader() == leader else { return nil }
    try found.open(address.database)
    try found.execute("PRAGMA foreign_keys = OFF")
    // When the cache of 2 MB spills, dqlite 1.11.1 cannot read the pages of the transaction again (error
    // 522).
    try found.execute("PRAGMA cache_spill = OFF")
    let known = Set(nodes.map(\.exact))
    nodes += try found.nodes().filter { !known.contains($0) }
    return found
  }

  private func connect(
    to node: String, _ timeout: Double
  ) throws(DatabaseError) -> NodeConnection {
    try NodeConnection(to: node, timeout: timeout, interruption: interruption)
  }

  /// Runs `body` on the leader. Tries again while another connection holds a lock, and after a change of the
  /// leader.
  package func ask<Result>(
    _ body: (NodeConnection) throws(DatabaseError) -> Result
  ) throws(Failure) -> Result {
    let time = Stopwatch()
    while true {
      let leader = try leader()
      do throws(DatabaseError) {
        return try body(leader)
      } catch {
        // Closing the connection ends the transaction that waited for a lock.
        disconnect()
        let mayPass = error.asksForAnotherLeader || error.code == .busy
        guard mayPass, time.seconds < timeout else { throw failure(error) }
      }
      try pause(since: time)
    }
  }

  /// Waits 20 ms for a leader or a lock.
  func pause(since time: Stopwatch) throws(Failure) {
    if interruption.isRequested { throw Failure(.interrupted, "interrupted") }
    usleep(Self.pause)
    if time.seconds > 1 { onWait(time.seconds) }
  }

  /// Converts an error that does not belong to a single statement.
  func failure(_ error: DatabaseError) -> Failure {
    switch error.code {
    case .interrupted: Failure(.interrupted, "interrupted")
    case .busy, .locked:
      Failure(
        .busy, "`\(address.text)` is in use (\(error.message))",
        remedy: "Try again, or wait longer with `--timeout`")
    default:
      Failure(error.status, "\(address.text): \(error.message) (error \(error.extendedCode))")
    }
  }
}
