import SchemaPlatform

/// Waits for a lock with growing pauses, until a timeout or a cancellation.
final class BusyHandler {
  private let timeout: Double
  private let isCancelled: () -> Bool
  private let onWait: (Double) -> Void
  private var waited = 0.0

  init(
    timeout: Double, isCancelled: @escaping () -> Bool, onWait: @escaping (Double) -> Void
  ) {
    self.timeout = timeout
    self.isCancelled = isCancelled
    self.onWait = onWait
  }

  func shouldTryAgain(after tries: Int) -> Bool {
    if tries == 0 { waited = 0 }
    guard waited < timeout, !isCancelled() else { return false }
    let pause = min(0.05, 0.001 * Double(tries + 1), timeout - waited)
    usleep(useconds_t(pause * 1_000_000))
    waited += pause
    onWait(waited)
    return true
  }
}
