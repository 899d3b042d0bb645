import SchemaSQLText
import SchemaSQLite

/// Errors of a cluster have codes like SQLite's, because nodes send such codes.
extension DatabaseError {
  /// The node is not the leader, and did nothing.
  private static let notLeader: Int32 = 10250
  /// The node has lost its leadership. The cluster may or may not commit the changes of the transaction.
  private static let leadershipLost: Int32 = 10506
  /// A code of schemactl's own: an extended code of SQLITE_IOERR that SQLite does not use.
  private static let connectionLost: Int32 = 10 | 250 << 8

  static func lostConnection(_ message: String, systemError: Int32 = 0) -> DatabaseError {
    DatabaseError(extendedCode: connectionLost, message: message, systemError: systemError)
  }

  static var interruptedWaiting: DatabaseError {
    DatabaseError(extendedCode: ResultCode.interrupted.rawValue, message: "interrupted")
  }

  /// Whether another node may be the leader now. A migration starts again only after these errors.
  package var asksForAnotherLeader: Bool {
    [Self.notLeader, Self.leadershipLost, Self.connectionLost].contains(extendedCode)
  }

  var isLostConnection: Bool { extendedCode == Self.connectionLost }
}
