import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

/// Handles SIGINT, SIGTERM and SIGHUP on a thread of its own.
///
/// The first signal asks the running migration to stop and roll back. It ends at once a command that does not
/// stop by itself, unless files are being written. A second signal ends any command at once: SQLite survives
/// that as it survives a power failure. The same signal again within a second is ignored.
struct Signals: Sendable {
  let interruption: Interruption
  /// Whether the command stops on `interruption`.
  let isGraceful: Bool
  /// The lock that the command holds while it writes files. Meanwhile a first signal does not end the
  /// program, because writing is short.
  let writing: Locked<Void>
  /// The lock that the command holds while it writes output, so that no message interrupts a document.
  let output: Locked<Void>
  let format: OutputFormat

  /// Starts handling signals. Call it before the program starts its first thread, which would
  /// otherwise receive the signals.
  func take() {
    let signals = BlockedSignals([SIGINT, SIGTERM, SIGHUP])
    startThread { wait(for: signals) }
  }

  private func wait(for signals: BlockedSignals) -> Never {
    let first = signals.next()
    let time = Stopwatch()
    if !isGraceful {
      writing.withLockIfAvailable { _ in
        output.withLockIfAvailable { _ in writeInterrupted() }
        _exit(ExitStatus.interrupted.rawValue)
      }
    }
    interruption.request()
    // GNU `timeout` sends a signal to its child, and again to the process group.
    while signals.next() == first, time.seconds < 1 {}
    write(
      "\nschemactl: stopped by a second signal. SQLite rolls back unfinished changes when a "
        + "program next opens the database\n", to: 2)
    _exit(ExitStatus.interrupted.rawValue)
  }

  private func writeInterrupted() {
    guard format == .json else { return write("\nschemactl: interrupted\n", to: 2) }
    let document: JSON = ["error": Failure(.interrupted, "interrupted").error]
    write(String(decoding: document.line, as: UTF8.self), to: 1)
  }

  /// Writes a last message, unless the write would block.
  private func write(_ message: String, to descriptor: Int32) {
    if isWritable(descriptor) { _ = writeAll(Array(message.utf8), to: descriptor) }
  }
}
