import Foundation
import SchemaSQLite
import Testing

/// A folder that is deleted with the last reference to it.
final class TemporaryFolder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func path(_ name: String) -> String { path + "/" + name }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}

/// The kinds of databases. Tests must succeed with all of them.
enum Place: String, CaseIterable, Sendable {
  case memory, file, wal

  func open(in folder: TemporaryFolder) throws -> Connection {
    switch self {
    case .memory: return try Connection(path: nil)
    case .file: return try Connection(path: folder.path("a.sqlite"))
    case .wal:
      let connection = try Connection(path: folder.path("a.sqlite"))
      try connection.execute("PRAGMA journal_mode = WAL")
      return connection
    }
  }
}

/// The error of `body`; a test fails if there is none.
func databaseError(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> DatabaseError {
  try #require(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
}

/// A counter that closures can share.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var value: Int { lock.withLock { count } }

  func add(_ number: Int = 1) { lock.withLock { count += number } }
}

/// Adds 1 to a counter when it is released.
final class Witness: Sendable {
  private let gone: Counter

  init(_ gone: Counter) { self.gone = gone }

  deinit { gone.add() }
}

/// Runs long enough to be stopped, and ends by itself if stopping fails.
let longQuery = """
  WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 100000000)
  SELECT count(*) FROM n
  """
