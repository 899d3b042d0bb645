import Foundation
import SchemaKit

/// The app's database: one connection, one user at a time.
actor Database {
  private let connection: Connection
  private let observation: Observation
  private let delay: Delay

  /// Opens a file, creates it where it is missing, and brings it up to date.
  ///
  /// - Parameters:
  ///   - path: nil is a database in memory.
  ///   - completingTime: how long a reminder stays completing.
  init(path: String? = nil, completingTime: Duration = .seconds(5)) throws {
    let delay = Delay(completingTime)
    let migrator = try SchemaMigrator(
      bundle: Bundle.module.path(forResource: "migrations", ofType: "schema") ?? "",
      functions: [
        AppFunction("completingChanged", arguments: 0, isDeterministic: false) { _ in
          delay.restart()
          return .null
        }
      ])
    if let path { try migrator.migrate(databaseAt: path) }
    connection = try Connection(path: path ?? ":memory:")
    if path == nil { try migrator.migrate(handle: connection.handle) }
    try migrator.prepare(handle: connection.handle)
    observation = Observation(connection)
    self.delay = delay
    delay.action = { [weak self] in
      try? await self?.write { try $0.run("UPDATE reminders SET status = 1 WHERE status = 2") }
    }
  }

  /// The database of the app, migrated at launch.
  static func live() throws -> Database {
    let folder = try FileManager.default.url(
      for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
    return try Database(path: folder.appendingPathComponent("reminders.sqlite").path)
  }

  /// A database in memory with something to show.
  static func preview() async throws -> Database {
    let database = try Database()
    let home = try await database.addList("Home")
    let milk = try await database.addReminder("Buy milk", to: home)
    try await database.addTag("shop", to: milk)
    _ = try await database.addReminder("Water the plants", to: home)
    return database
  }

  func read<Result: Sendable>(_ body: (Connection) throws -> Result) throws -> Result {
    try body(connection)
  }

  @discardableResult
  func write<Result: Sendable>(_ body: (Connection) throws -> Result) throws -> Result {
    defer { observation.afterWrite() }
    do {
      return try connection.transaction { try body(connection) }
    } catch let error as SQLiteError {
      throw RemindersError(error) ?? error
    }
  }

  var isObserved: Bool { observation.isListening }

  #if DEBUG
    func trace(_ show: @escaping @Sendable (String) -> Void) { connection.trace(show) }
  #endif

  /// The results of a query: at once, and after each commit that changes a table that it reads.
  func values<Result: Sendable>(
    _ query: @escaping @Sendable (Connection) throws -> Result
  ) -> AsyncThrowingStream<Result, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      do {
        let tables = try observation.tables { continuation.yield(try query(connection)) }
        let id = observation.add(reading: tables) { [connection] in
          do {
            continuation.yield(try query(connection))
          } catch {
            continuation.finish(throwing: error)
          }
        }
        continuation.onTermination = { _ in Task { await self.stop(id) } }
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  private func stop(_ observer: Int) { observation.remove(observer) }
}

/// Runs an action some time after the last call of `restart`.
final class Delay: @unchecked Sendable {
  private let time: Duration
  private let lock = NSLock()
  private var task: Task<Void, Never>?
  /// Set once, before the first restart.
  var action: @Sendable () async -> Void = {}

  init(_ time: Duration) {
    self.time = time
  }

  deinit { task?.cancel() }

  func restart() {
    lock.lock()
    defer { lock.unlock() }
    task?.cancel()
    task = Task { [time, action] in
      guard (try? await Task.sleep(for: time)) != nil else { return }
      await action()
    }
  }
}

/// What the database refuses, in words for the user.
enum RemindersError: LocalizedError, Equatable {
  case refused(String)

  /// The message of a trigger, from `RAISE(ABORT, '…')`.
  init?(_ error: SQLiteError) {
    let constraintTrigger: Int32 = 1811
    guard error.code == constraintTrigger else { return nil }
    self = .refused(error.description)
  }

  var errorDescription: String? {
    switch self {
    case .refused(let message): message
    }
  }
}
