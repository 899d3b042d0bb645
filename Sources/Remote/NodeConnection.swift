import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// A connection to one node of a cluster, and to a database on the node.
///
/// Use `execute` for a statement that changes rows. The node does not replicate the changes of a statement
/// that runs through `rows`.
package final class NodeConnection: RowSource {
  package let node: String
  private let socket: Socket
  /// The time limit for the connection and for each answer, in seconds.
  private let timeout: Double

  /// Connects to a node.
  ///
  /// - Parameter timeout: the time limit for the connection and for each answer, in seconds.
  package init(
    to node: String, timeout: Double, interruption: Interruption = Interruption()
  ) throws(DatabaseError) {
    guard let address = NodeAddress(node) else {
      throw .lostConnection("`\(node)` is not the address of a node")
    }
    self.node = node
    self.timeout = timeout
    socket = try Socket(to: address, timeout: timeout, interruption: interruption)
    var version = MessageWriter()
    version.write(1)
    try socket.send(version.bytes, until: Deadline(after: timeout))
    var client = MessageWriter()
    client.write(UInt64(getpid()))
    _ = try request(Request.client, client)
  }

  /// Sends a request and waits for the answer.
  ///
  /// - Throws: the error that the node returns, or a lost connection.
  package func request(
    _ type: UInt8, _ body: MessageWriter
  ) throws(DatabaseError) -> MessageReader {
    try socket.send(body.message(type), until: Deadline(after: timeout))
    return try answer()
  }

  private func answer() throws(DatabaseError) -> MessageReader {
    let end = Deadline(after: timeout)
    var header = MessageReader(type: 0, bytes: try socket.receive(8, until: end))
    let word = try header.word()
    let count = Int(word & 0xFFFF_FFFF) * 8
    guard count <= 1 << 30 else { throw .malformedAnswer }
    var answer = MessageReader(
      type: UInt8(word >> 32 & 0xFF), bytes: try socket.receive(count, until: end))
    guard answer.type == Answer.failure else { return answer }
    let code = Int32(truncatingIfNeeded: try answer.word())
    throw DatabaseError(extendedCode: code, message: try answer.text())
  }

  /// Asks for the address of the leader; nil if the node knows no leader.
  package func leader() throws(DatabaseError) -> String? {
    var body = MessageWriter()
    body.write(0)
    var answer = try request(Request.leader, body)
    _ = try answer.word()
    let address = try answer.text()
    return address.isEmpty ? nil : address
  }

  /// Asks for the addresses of all nodes.
  package func nodes() throws(DatabaseError) -> [String] {
    var body = MessageWriter()
    body.write(0)
    var answer = try request(Request.cluster, body)
    var nodes: [String] = []
    for _ in 0..<Int(clamping: try answer.word()) {
      _ = try answer.word()
      nodes.append(try answer.text())
    }
    return nodes
  }

  /// Opens the database for all later statements of this connection.
  package func open(_ database: String) throws(DatabaseError) {
    var body = MessageWriter()
    body.write(database)
    body.write(0)
    body.write("")
    _ = try request(Request.open, body)
  }

  /// Runs a statement that returns no rows.
  ///
  /// - Returns: the number of changed rows.
  @discardableResult
  package func execute(_ sql: String, _ values: [Value] = []) throws(DatabaseError) -> Int64 {
    var answer = try request(Request.execute, try statement(sql, values))
    _ = try answer.word()
    return Int64(bitPattern: try answer.word())
  }

  package func rows(_ sql: String, _ values: [Value]) throws(DatabaseError) -> [[Value]] {
    var rows: [[Value]] = []
    var answer = try request(Request.query, try statement(sql, values))
    while answer.type == Answer.rows {
      guard try answer.rows(into: &rows) else { return rows }
      answer = try self.answer()
    }
    throw .malformedAnswer
  }

  /// Runs a query.
  ///
  /// - Throws: an error if the node returns another number of columns.
  func rows(
    _ sql: String, _ values: [Value] = [], columns: Int
  ) throws(DatabaseError) -> [[Value]] {
    let rows = try rows(sql, values)
    guard rows.allSatisfy({ $0.count == columns }) else { throw .malformedAnswer }
    return rows
  }

  private func statement(_ sql: String, _ values: [Value]) throws(DatabaseError) -> MessageWriter {
    guard !sql.utf8.contains(0) else {
      throw DatabaseError(
        extendedCode: ResultCode.error.rawValue,
        message: "the dqlite protocol cannot carry SQL with a NUL character", sql: sql)
    }
    var body = MessageWriter()
    body.write(0)
    body.write(sql)
    body.write(values)
    return body
  }
}
