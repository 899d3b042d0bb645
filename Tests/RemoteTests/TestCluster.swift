import Foundation
import SchemaHistory
import SchemaRemote
import SchemaSQLText
import SchemaTestPrograms
import SchemaTestSupport
import Synchronization
import Testing

/// Three dqlite nodes on loopback, each a process with its own folder. They end with this process.
final class TestCluster: Sendable {
  private let folder: URL
  private let program: String
  let nodes: [String]
  private let processes = Mutex<[Int: Process]>([:])

  static var isPossible: Bool { FileManager.default.fileExists(atPath: "/usr/include/dqlite.h") }

  init(nodes count: Int = 3) throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("schemactl-\(UUID().uuidString)")
    program = try nodeProgram.get()
    nodes = try freePorts(count).map { "127.0.0.1:\($0)" }
    for index in nodes.indices { try start(index) }
    let leader = try leader()
    for (index, node) in nodes.enumerated().dropFirst() {
      var new = MessageWriter()
      new.write(UInt64(index + 1))
      new.write(node)
      _ = try leader.request(12, new)
      var voter = MessageWriter()
      voter.write(UInt64(index + 1))
      voter.write(0)
      _ = try leader.request(13, voter)
    }
  }

  deinit {
    for process in processes.withLock({ $0.values }) { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }

  func url(_ database: String = "app.db") -> String {
    "dqlite://\(nodes.joined(separator: ","))/\(database)"
  }

  /// A connection like that of schemactl.
  func cluster(_ database: String = "app.db", timeout: Double = 30) throws -> Cluster {
    Cluster(try #require(try ClusterAddress(url(database))), timeout: timeout)
  }

  func leader(_ database: String = "app.db") throws -> NodeConnection {
    try cluster(database).leader()
  }

  private func start(_ index: Int) throws {
    let home = folder.appendingPathComponent("\(index + 1)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["\(index + 1)", nodes[index], home.path]
    let output = Pipe()
    process.standardOutput = output
    // The pipe remains open as long as this process runs.
    process.standardInput = Pipe()
    try process.run()
    _ = try output.fileHandleForReading.read(upToCount: 1)
    processes.withLock { $0[index] = process }
  }

  /// Kills the leader's node and restarts it.
  func replaceLeader() throws {
    let leader = try leader().node
    let index = try #require(nodes.firstIndex { $0 == leader })
    try #require(hasAllNodes, "a node has crashed")
    let process = try #require(processes.withLock { $0[index] })
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try start(index)
  }

  /// Makes a node the leader.
  func lead(by node: String) throws {
    let index = try #require(nodes.firstIndex { $0 == node })
    while try leader().node != node {
      var body = MessageWriter()
      body.write(UInt64(index + 1))
      _ = try? leader().request(17, body)
    }
  }

  /// Whether all nodes are still running.
  var hasAllNodes: Bool {
    processes.withLock { $0.values.allSatisfy { process in process.isRunning } }
  }
}

extension Trait where Self == ConditionTrait {
  static var needsDqlite: Self {
    .enabled(if: TestCluster.isPossible, "needs libdqlite-dev")
  }
}

/// Compiled on first use, because the package does not publish targets for tests.
private let nodeProgram: Result<String, any Error> = Result {
  let program = programs.appendingPathComponent("dqlite-node")
  let source = repository.path + "/Tests/RemoteTests/Node/Node.c"
  // Another process may run it during the write.
  let new = program.path + ".\(getpid())"
  let compiled = try run("/usr/bin/env", ["cc", "-O1", "-o", new, source, "-ldqlite"])
  try #require(compiled.code == 0, "\(compiled.errors)")
  try #require(rename(new, program.path) == 0)
  return program.path
}

private func freePorts(_ count: Int) throws -> [UInt16] {
  var sockets: [Int32] = []
  defer { for socket in sockets { close(socket) } }
  return try (0..<count).map { _ in
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    sockets.append(descriptor)
    return try boundPort(descriptor)
  }
}

/// Binds a socket to a free port of the loopback interface.
func boundPort(_ descriptor: Int32) throws -> UInt16 {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  try withUnsafeMutablePointer(to: &address) { pointer in
    try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      try #require(bind(descriptor, pointer, size) == 0)
      try #require(getsockname(descriptor, pointer, &size) == 0)
    }
  }
  return UInt16(bigEndian: address.sin_port)
}
