import SchemaFleet
import SchemaLint
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// One line on the terminal of standard error that says what is going on, rewritten in place.
/// Elsewhere nothing, but for a long wait, which is said once.
struct ProgressLine {
  private let output: Output
  private let isOn: Bool
  private var shown = ""
  private var copying: Copying?
  private var fleet: Fleet?

  /// When a run on many databases began, and when its progress was shown last.
  private struct Fleet {
    let started = Stopwatch()
    var shown = Stopwatch()
  }

  init(_ output: Output, isOn: Bool) {
    self.output = output
    self.isOn = isOn
  }

  mutating func show(_ event: MigrateEvent) {
    switch event {
    case .waiting(let seconds): showWaiting(seconds)
    case .started(let id, let number, let count):
      show("\(id.shortened(to: 56)) \(number)/\(count) …")
    case .willCommit: show("committing …")
    case .copying(let done, let all):
      show("copying the database: \(done / 1_000_000) of \(all / 1_000_000) MB …")
    case .copyingRows(let copy, let done, let all):
      show(copying(copy).line(done: done, of: all))
    case .created, .note, .began, .ran, .working, .committed, .drift: break
    }
  }

  /// On a terminal ten times a second, elsewhere every ten seconds.
  mutating func show(_ summary: FleetSummary) {
    guard isOn else { return }
    let fleet = fleet ?? Fleet()
    self.fleet = fleet
    guard fleet.shown.milliseconds >= (output.isTerminal ? 100 : 10_000) else { return }
    self.fleet?.shown = Stopwatch()
    let text = summary.progress(afterMilliseconds: fleet.started.milliseconds)
    guard !output.isTerminal else { return show(text) }
    output.write(text + "\n")
    output.flush()
  }

  mutating func clear() { show("") }

  private mutating func copying(_ copy: RowCopy) -> Copying {
    if let copying, copying.copy == copy { return copying }
    let new = Copying(copy: copy, time: Stopwatch())
    copying = new
    return new
  }

  private mutating func showWaiting(_ seconds: Double) {
    let waiting = "waiting for another process to release the database"
    if output.isTerminal {
      let tenths = Int(seconds * 10)
      show("\(waiting): \(tenths / 10).\(tenths % 10) s")
    } else if isOn, seconds >= 1, shown.isEmpty {
      shown = waiting
      output.write("note: \(waiting)\n")
      output.flush()
    }
  }

  private mutating func show(_ text: String) {
    guard isOn, output.isTerminal, text != shown else { return }
    shown = text
    output.write("\r\u{1B}[K\(text)")
    output.flush()
  }
}

/// How far the copying of a table's rows is.
private struct Copying {
  let copy: RowCopy
  let time: Stopwatch

  func line(done: Int64, of all: Int64) -> String {
    let percent = all > 0 ? min(done * 100 / all, 100) : 100
    let left = time.seconds / Double(max(done, 1)) * Double(max(all - done, 0))
    let seconds = Int(left)
    return "copying \(copy.table.shortened(to: 40)): \(done) of \(all) rows, \(percent) %, about "
      + (seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min") + " left …"
  }
}
