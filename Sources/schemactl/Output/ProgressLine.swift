import Migrating

/// One line on the terminal of standard error that says what is going on, rewritten in place.
/// Nothing on a pipe.
struct ProgressLine {
  private let output: Output
  private let isOn: Bool
  private var shown = ""

  init(_ output: Output, isOn: Bool) {
    self.output = output
    self.isOn = isOn && output.isTerminal
  }

  mutating func show(_ event: MigrateEvent) {
    switch event {
    case .waiting(let seconds):
      let tenths = Int(seconds * 10)
      show("waiting for another process to release the database: \(tenths / 10).\(tenths % 10) s")
    case .started(let id, let number, let count):
      show("\(id.shortened(to: 56)) \(number)/\(count) …")
    case .willCommit: show("committing …")
    case .copying(let done, let all):
      show("copying the database: \(done / 1_000_000) of \(all / 1_000_000) MB …")
    case .created, .note, .began, .ran, .committed, .drift: break
    }
  }

  mutating func clear() { show("") }

  private mutating func show(_ text: String) {
    guard isOn, text != shown else { return }
    shown = text
    output.write("\r\u{1B}[K\(text)")
    output.flush()
  }
}
