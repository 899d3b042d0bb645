import CSQLite

extension Connection {
  /// Asks again and again, while a statement runs, whether it must end; it then throws
  /// `interrupted`. Unlike an interrupt, which SQLite forgets between two statements, an answer that
  /// stays yes cannot be missed.
  package func setStopCheck(_ mustStop: @escaping () -> Bool) {
    let check = StopCheck(mustStop)
    stopCheck = check
    sqlite3_progress_handler(
      handle, 5000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<StopCheck>.fromOpaque(context).takeUnretainedValue().mustStop() ? 1 : 0
      }, Unmanaged.passUnretained(check).toOpaque())
  }
}

final class StopCheck {
  let mustStop: () -> Bool

  init(_ mustStop: @escaping () -> Bool) {
    self.mustStop = mustStop
  }
}
