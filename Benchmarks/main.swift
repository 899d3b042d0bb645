import Foundation

// Measures schemactl beside the `sqlite3` shell and beside what users would pick instead.
//
//   Benchmark --tool FILE [--peers FOLDER] [ROW…] [--rows N] [--rounds N]
//             [--memory] [--growth] [--all] [--write FILE.md] [--json FILE]
//
// Whole processes, all contestants in turn in each round after one that does not count; what is
// said is the median of the ratios within the rounds. ROW is a row of the table; without any, all are
// measured. Fleets have a hundredth of `--rows` databases. `--memory` and `--growth` add a table each,
// `--all` both. Exits with 1 when a target is missed.

var tool = "dist/schemactl"
var peersFolder = ".build/peers"
var names: [String] = []
var rows = 1_000_000
var rounds = 5
/// Of `memory` and `growth`: tables beside the first one.
var more: Set<String> = []
var document: String?
var data: String?
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  switch word {
  case "--tool": tool = words.popFirst() ?? tool
  case "--peers": peersFolder = words.popFirst() ?? peersFolder
  case "--rows": rows = words.popFirst().flatMap(Int.init) ?? rows
  case "--rounds": rounds = words.popFirst().flatMap(Int.init) ?? rounds
  case "--all": more = ["memory", "growth"]
  case "--memory", "--growth": more.insert(String(word.dropFirst(2)))
  case "--write": document = words.popFirst().map { absolute($0).path }
  case "--json": data = words.popFirst().map { absolute($0).path }
  default: names.append(word)
  }
}

/// What a relative path was meant to be: the working folder changes with each run.
func absolute(_ path: String) -> URL {
  URL(fileURLWithPath: path).absoluteURL
}

let workplace = FileManager.default.temporaryDirectory
  .appendingPathComponent("schemactl-benchmark-\(getpid())")
try create(workplace)
defer { try? FileManager.default.removeItem(at: workplace) }
// What an earlier round has left would make it another work.
let peers = Peers(folder: absolute(peersFolder))
let contests = Contests(
  schemactl: absolute(tool).path, peers: peers, workplace: workplace,
  rows: rows)

do {
  var report = Report()
  report.machine = machine() + ", \(rounds) rounds, \(rows.formatted()) rows."
  report.versions = try versions()
  report.skipped = ["dbmate", "sqitch", "alembic", "django-admin", "yoyo"].filter {
    peers.path($0) == nil
  }
  if !report.skipped.isEmpty { print("not installed: \(report.skipped.joined(separator: ", "))") }
  let known = contests.table.map(\.name)
  if let unknown = names.first(where: { !known.contains($0) }) {
    print("unknown: \(unknown); rows: \(known.joined(separator: ", "))")
    exit(64)
  }
  for (name, make) in contests.table where names.isEmpty || names.contains(name) {
    let outcome = try make().run(rounds: rounds)
    report.outcomes.append(outcome)
    var one = Report()
    one.outcomes = [outcome]
    print(one.text)
    fflush(nil)
  }
  if more.contains("memory") {
    report.memory = try Memory(schemactl: contests.schemactl, workplace: workplace)
      .measure([1_000_000, 10_000_000])
  }
  if more.contains("growth") {
    report.growth = try Growth(contests: contests).measure(
      [
        (10, nil), (100, nil), (1000, nil), (5000, nil),
        (100, 10), (1000, 10), (10_000, 10), (2000, 100), (2000, 1000),
      ], rounds: 1)
  }
  if let document { try report.write(to: document) }
  if let data { try report.json.write(to: URL(fileURLWithPath: data)) }
  try? FileManager.default.removeItem(at: workplace)
  exit(report.outcomes.allSatisfy(\.isMet) ? 0 : 1)
} catch {
  print("\(error)")
  try? FileManager.default.removeItem(at: workplace)
  exit(70)
}

/// The machine, and the day.
func machine() -> String {
  var system = utsname()
  uname(&system)
  func text<T>(_ field: T) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
  let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
  let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }?
    .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
  let date = Date.now.formatted(.iso8601.year().month().day())
  return "\(date), \(text(system.sysname)) \(text(system.release)) on \(text(system.machine)), "
    + "\(ProcessInfo.processInfo.activeProcessorCount) processors"
    + (model.map { " (\($0))" } ?? "")
}

@MainActor func versions() throws -> [(name: String, version: String)] {
  func version(_ name: String, _ words: [String]) -> (String, String)? {
    guard let text = try? output(words, in: workplace),
      let number = text.split(whereSeparator: { $0.isWhitespace })
        .first(where: { $0.drop(while: { $0 == "v" || $0 == "(" }).first?.isNumber == true })
    else { return nil }
    return (name, number.trimmingCharacters(in: CharacterSet(charactersIn: "v()")))
  }
  return [
    version("schemactl", [contests.schemactl, "--version"]),
    version("sqlite3", ["sqlite3", "--version"]),
  ].compactMap { $0 }
    + [
      ("dbmate", "dbmate"), ("sqitch", "sqitch"), ("alembic", "alembic"),
      ("Django", "django-admin"),
    ].compactMap { name, program in
      peers.path(program).flatMap { version(name, [$0, "--version"]) }
    }
}
