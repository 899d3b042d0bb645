import SchemaPlatform
import SchemaSQLite

/// A request to stop that another thread makes, usually because of a signal.
///
/// SQLite forgets an interrupt that comes between two statements, so the request is a flag that is
/// looked at there, and by each statement while it runs.
package final class Interruption: Sendable {
  private let requested = Locked(false)
  private let connections = Locked<[Interruptible]>([])

  package init() {}

  package var isRequested: Bool { requested.withLock { $0 } }

  package func request() {
    requested.withLock { $0 = true }
    for connection in connections.withLock({ $0 }) { connection.interrupt() }
  }

  package func watch(_ connection: Connection) {
    let handle = connection.interruptHandle
    connections.withLock { connections in
      // One run may open thousands of databases, one after the other.
      connections.removeAll(where: \.isClosed)
      connections.append(handle)
    }
    connection.setStopCheck { [weak self] in self?.isRequested ?? false }
  }
}
