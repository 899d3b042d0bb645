import Foundation
import SchemaHistory
import SchemaRemote
import SchemaSQLText
import SchemaTestSupport
import Testing

@Suite("Nodes that send invalid answers")
struct HostileNodeTests {
  @Test(
    "an answer of the wrong form is an I/O error",
    arguments: [
      // No rows at all, fewer columns, more columns than bytes, an unknown type of value, a text without an end.
      [], [1, word("a"), 1, 7, .max], [1 << 40, .max], [1, word("a"), 2 << 56, .max],
      [4, word("a"), word("a"), word("a"), word("a"), 0x3333, word("table"), .max],
    ] as [[UInt64]])
  func rows(_ words: [UInt64]) throws {
    let node = try FakeNode { request, address in
      switch request {
      case Request.leader: (1, bytes([1]) + text(address))
      case Request.cluster: (3, bytes([0]))
      case Request.query: (7, bytes(words))
      default: (6, bytes([0, .max]))
      }
    }
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (n)")
    let cluster = Cluster(
      try #require(try ClusterAddress("dqlite://\(node.address)/app.db")), timeout: 0.2)
    #expect {
      _ = try ClusterCopy(of: cluster, for: sandbox.project())
    } throws: { ($0 as? Failure)?.status == .inputOutput }
  }

  @Test("sizes that no table can have do not stop schemactl")
  func sizes() throws {
    let leader = [word("main"), 0x11, .max / 2, .max / 2, .max]
    let node = try FakeNode { request, address in
      switch request {
      case Request.leader: (1, bytes([1]) + text(address))
      case Request.cluster: (3, bytes([.max]))
      case Request.query: (7, bytes([2, word("a"), word("b")] + leader.dropFirst()))
      default: (6, bytes([0, .max]))
      }
    }
    let address = try #require(try ClusterAddress("dqlite://\(node.address)/app.db"))
    #expect {
      _ = try Cluster(address, timeout: 0.2).leader()
    } throws: { ($0 as? Failure)?.status == .inputOutput }
  }
}

/// Up to seven letters as a word of the protocol.
private func word(_ text: String) -> UInt64 {
  text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
}

private func bytes(_ words: [UInt64]) -> [UInt8] {
  words.flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) }
}

private func text(_ text: String) -> [UInt8] {
  let bytes = Array(text.utf8) + [0]
  return bytes + Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
}

/// A server on loopback that answers each request of the wire protocol as a test says.
private final class FakeNode: Sendable {
  let address: String
  private let listener: Int32

  init(
    answer:
      @escaping @Sendable (_ request: UInt8, _ address: String) -> (type: UInt8, body: [UInt8])
  ) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let port = try boundPort(listener)
    try #require(listen(listener, 8) == 0)
    let address = "127.0.0.1:\(port)"
    self.address = address
    self.listener = listener
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        // A client asks the leader while its connection to the first node is open.
        Thread.detachNewThread { serve(client, from: address, answer) }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

private func serve(
  _ client: Int32, from address: String,
  _ answer: (_ request: UInt8, _ address: String) -> (type: UInt8, body: [UInt8])
) {
  defer { close(client) }
  _ = received(8, from: client)
  while let header = received(8, from: client) {
    let count = Int(header[0]) + Int(header[1]) << 8
    guard received(count * 8, from: client) != nil else { return }
    let (type, body) = answer(header[4], address)
    let words = UInt64(body.count / 8)
    let message = bytes([words | UInt64(type) << 32]) + body
    guard send(client, message, message.count, Int32(MSG_NOSIGNAL)) > 0 else { return }
  }
}

private func received(_ count: Int, from client: Int32) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  var done = 0
  while done < count {
    let read = recv(client, &bytes[done], count - done, 0)
    guard read > 0 else { return nil }
    done += read
  }
  return bytes
}
