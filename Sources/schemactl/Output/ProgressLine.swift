import SchemaFleet
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// A progress line on standard error. On a terminal, the line is rewritten in place and never wider than the
/// terminal. Otherwise only a long wait is reported, once.
struct ProgressLine {
  private let output: Output
  private let isOn: Bool
  private var shown = ""
  /// `0007_status 1/3`.
  private var migration = ""
  private var phase: Phase?

  /// A phase with two earlier measurements. The remaining time is estimated from the rate since the older
  /// one, when at most half of the current number of rows was done. The first rows of a phase take longer.
  private struct Phase {
    let progress: PhaseProgress
    let time = Stopwatch()
    private var last: (done: Int64, seconds: Double) = (0, 0)
    private var earlier: (done: Int64, seconds: Double) = (0, 0)

    init(_ progress: PhaseProgress) { self.progress = progress }

    /// Estimates the remaining time of the phase, in seconds.
    mutating func left(after done: Int64, of all: Int64) -> Double {
      let now = time.seconds
      if done >= last.done * 2 { (earlier, last) = (last, (done, now)) }
      return (now - earlier.seconds) / Double(done - earlier.done) * Double(all - done)
    }
  }

  /// The start of a run on many databases, and the time of its last progress report.
  private var fleet: (started: Stopwatch, shown: Stopwatch)?

  init(_ output: Output, isOn: Bool) {
    self.output = output
    self.isOn = isOn
  }

  mutating func show(_ event: MigrateEvent) {
    switch event {
    case .waiting(let seconds, let isOnCluster): showWaiting(seconds, isOnCluster)
    case .started(let id, let number, let count):
      migration = "\(id.visible) \(number)/\(count)"
      phase = nil
      show([migration])
    case .willCommit: show(["commit"])
    case .copying(let done, let all):
      show(["copy the database", " \(percent(done, all))", " of \(grouped(all / 1_000_000)) MB"])
    case .phase(let progress): show(progress)
    case .created, .note, .began, .ran, .committed: break
    }
  }

  mutating func clear() { show([]) }

  /// Shows the progress of a run on many databases: on a terminal at once and then ten times a second,
  /// elsewhere every ten seconds.
  mutating func show(_ summary: FleetSummary) {
    guard isOn else { return }
    let isFirst = fleet == nil && output.rewritesLines
    let (started, shown) = fleet ?? (Stopwatch(), Stopwatch())
    let isDue = isFirst || shown.milliseconds >= (output.rewritesLines ? 100 : 10_000)
    fleet = (started, isDue ? Stopwatch() : shown)
    guard isDue else { return }
    let text = summary.progress(afterMilliseconds: started.milliseconds)
    guard !output.rewritesLines else { return show([text]) }
    output.write(text + "\n")
    output.flush()
  }

  /// Shows the most important part first, and leaves out parts that do not fit.
  private mutating func show(_ progress: PhaseProgress) {
    if phase?.progress.phase != progress.phase || phase?.progress.object != progress.object
      || progress.done == 0
    {
      phase = Phase(progress)
    }
    let elapsed = phase?.time.seconds ?? 0
    var parts = ["\(progress.phase.rawValue) \(progress.object.visible)"]
    if let all = progress.all, all > 0, progress.done > 0 {
      parts.append(" \(percent(progress.done, all))")
      // A new phase has too little data for an estimate of its end.
      let isSettled = elapsed > 5 || elapsed > 0.5 && progress.done > all / 20
      if let left = phase?.left(after: progress.done, of: all), isSettled, progress.done < all {
        parts.append(", \(duration(left)) left in this phase")
      }
      parts.append(", \(grouped(progress.done)) of \(counted(all, "row"))")
    } else {
      if elapsed > 1 { parts.append(", \(duration(elapsed))") }
      if progress.done > 0 { parts.append(", \(counted(progress.done, "row"))") }
    }
    parts.append(" (\(migration))")
    show(parts)
  }

  private func percent(_ done: Int64, _ all: Int64) -> String {
    "\(all > 0 ? min(done * 100 / all, 100) : 100) %"
  }

  private func duration(_ seconds: Double) -> String {
    seconds < 120 ? "\(Int(seconds)) s" : "\(Int(seconds) / 60) min"
  }

  private mutating func showWaiting(_ seconds: Double, _ isOnCluster: Bool) {
    if output.rewritesLines {
      let tenths = Int(seconds * 10)
      show(["waiting for the database", " \(tenths / 10).\(tenths % 10) s"])
    } else if isOn, seconds >= 1, shown.isEmpty {
      shown =
        isOnCluster
        ? "note: waiting for the cluster: it has no leader, or another process writes\n"
        : "note: waiting for another process to release the database\n"
      output.write(shown)
      output.flush()
    }
  }

  /// Shows as many parts as fit. Truncates the first part if even it does not fit.
  private mutating func show(_ parts: [String]) {
    guard isOn, output.rewritesLines else { return }
    // Some terminals wrap the line when its last column is used.
    let width = max(output.width - 1, 1)
    var text = ""
    for part in parts where text.count + part.count + 2 <= width { text += part }
    if text.isEmpty, let first = parts.first { text = String(first.prefix(max(width - 2, 0))) }
    if !text.isEmpty { text += " …" }
    guard text != shown else { return }
    shown = text
    output.write("\r\u{1B}[K\(text)")
    output.flush()
  }
}
