import Foundation
import SchemaSQLite

/// The table of results, with the conditions of the run.
struct Report {
  let seed: UInt64
  private var rows: [String] = []

  init(seed: UInt64) { self.seed = seed }

  mutating func add(_ run: Run) {
    for kind in run.kinds {
      guard let tally = run.tallies[kind] else { continue }
      rows.append("| \(kind) | \(tally.tried) | \(tally.bad.count) |")
    }
  }

  var table: String {
    (["| operation | tried | bad |", "|---|---|---|"] + rows).joined(separator: "\n")
  }

  private var circumstances: String {
    var system = utsname()
    uname(&system)
    func text<T>(_ field: T) -> String {
      withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    let date = Date.now.formatted(.iso8601.year().month().day())
    let processors = ProcessInfo.processInfo.activeProcessorCount
    return "\(date), \(text(system.sysname)) on \(text(system.machine)), "
      + "\(processors) processors, SQLite \(Connection.libraryVersion), seed \(seed):"
  }

  /// Writes the table between two markers in a document.
  func write(to path: String) throws {
    let (begin, end) = ("<!-- torture: begin -->", "<!-- torture: end -->")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard let start = text.range(of: begin),
      let stop = text.range(of: end, range: start.upperBound..<text.endIndex)
    else { throw Damage("\(path) has no \(begin) with a \(end) after it") }
    let written =
      text[..<start.upperBound] + "\n\(circumstances)\n\n\(table)\n" + text[stop.lowerBound...]
    try written.write(toFile: path, atomically: true, encoding: .utf8)
  }
}
