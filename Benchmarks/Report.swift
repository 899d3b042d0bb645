import Foundation

/// The results as text, Markdown and JSON.
struct Report {
  var outcomes: [Outcome] = []
  var skipped: [String] = []
  var growth: [Growth.Point] = []
  var memory: [Memory.Line] = []
  var machine = ""
  var versions: [(name: String, version: String)] = []

  // MARK: Markdown

  var markdown: String {
    var parts = [
      "\(machine)\n\n" + versions.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    ]
    if !skipped.isEmpty {
      parts.append("Not installed, and so left out: \(skipped.joined(separator: ", ")).")
    }
    parts.append(main)
    if !memory.isEmpty { parts.append("### Memory\n\n" + memoryTable) }
    if !growth.isEmpty { parts.append("### Growth\n\n" + growthTable + "\n\n" + plot) }
    return parts.joined(separator: "\n\n")
  }

  private var main: String {
    table(
      ["work", "the first one", "schemactl", "at most", "", "others"],
      outcomes.map { outcome in
        let ours = outcome.ours
        let others = outcome.results.dropFirst().filter { $0.name != "schemactl" }
          .map { "\($0.name) \(ratio($0.ratio))" }.joined(separator: ", ")
        return [
          outcome.title, "\(outcome.reference.name) \(time(outcome.reference.seconds))",
          "\(ratio(ours?.ratio ?? .nan)) (\(spread(ours?.ratios ?? [])))",
          outcome.target.map(ratio) ?? "",
          outcome.target.map { _ in outcome.isMet ? "met" : "**missed**" } ?? "", others,
        ]
      })
  }

  private var memoryTable: String {
    table(
      ["rows", "sqlite3", "schemactl", "more"],
      memory.map {
        [$0.rows.formatted(), bytes($0.shell), bytes($0.ours), bytes($0.ours - $0.shell)]
      })
  }

  private var growthTable: String {
    table(
      [
        "migrations", "tables", "replay in the shell", "verify", "lint",
        "verify / replay",
      ],
      growth.map {
        [
          $0.count.formatted(), ($0.tables ?? $0.count / 2).formatted(), time($0.replay),
          time($0.verify), time($0.lint), ratio($0.verify / $0.replay),
        ]
      })
  }

  /// Time for each migration: a flat line is linear growth.
  private var plot: String {
    let most = growth.map { max($0.verify, $0.replay) / Double($0.count) }.max() ?? 1
    let lines = growth.flatMap { point in
      [("replay", point.replay), ("verify", point.verify)].map {
        name, seconds in
        let each = seconds / Double(point.count)
        let bar = String(repeating: "█", count: max(1, Int(each / most * 40)))
        let tables = (point.tables ?? point.count / 2).formatted()
        return pad("\(point.count.formatted()) on \(tables), \(name)", 26) + bar + " "
          + String(format: "%.0f µs", each * 1e6)
      }
    }
    return "Time for each migration:\n\n```\n\(lines.joined(separator: "\n"))\n```"
  }

  private func table(_ head: [String], _ rows: [[String]]) -> String {
    (["| \(head.joined(separator: " | ")) |", "|" + String(repeating: "---|", count: head.count)]
      + rows.map { "| \($0.joined(separator: " | ")) |" }).joined(separator: "\n")
  }

  // MARK: Text

  var text: String {
    outcomes.map { outcome in
      ([outcome.title + (outcome.isMet ? "" : "  MISSED")]
        + outcome.results.map { result in
          "  " + pad(result.name, 10) + pad(time(result.seconds), 12) + pad(ratio(result.ratio), 8)
            + "(\(spread(result.ratios)))"
        }).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
  }

  private func ratio(_ number: Double) -> String { String(format: "%.2f", number) }

  private func spread(_ ratios: [Double]) -> String {
    "\(ratio(ratios.min() ?? .nan)) to \(ratio(ratios.max() ?? .nan))"
  }

  private func time(_ seconds: Double) -> String {
    seconds < 1 ? String(format: "%.1f ms", seconds * 1000) : String(format: "%.2f s", seconds)
  }

  private func bytes(_ count: Int) -> String { String(format: "%.1f MB", Double(count) / 1e6) }

  // MARK: JSON

  var json: Data {
    get throws {
      let document: [String: Any] = [
        "machine": machine,
        "versions": Dictionary(uniqueKeysWithValues: versions.map { ($0.name, $0.version) }),
        "skipped": skipped,
        "rows": outcomes.map { outcome in
          [
            "work": outcome.title, "target": outcome.target ?? NSNull() as Any,
            "met": outcome.isMet,
            "results": outcome.results.map { result in
              [
                "name": result.name, "ratio": result.ratio, "ratios": result.ratios,
                "seconds": result.samples.map(\.wall),
                "processorSeconds": result.samples.map(\.processor), "memory": result.memory,
              ] as [String: Any]
            },
          ] as [String: Any]
        },
        "memory": memory.map { ["rows": $0.rows, "sqlite3": $0.shell, "schemactl": $0.ours] },
        "growth": growth.map {
          [
            "migrations": Double($0.count), "tables": Double($0.tables ?? $0.count / 2),
            "replay": $0.replay, "verify": $0.verify, "lint": $0.lint,
          ]
        },
      ]
      return try JSONSerialization.data(
        withJSONObject: document, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }
  }

  /// Writes the Markdown between the two marks of a document.
  func write(to path: String) throws {
    let (begin, end) = ("<!-- benchmark: begin -->", "<!-- benchmark: end -->")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard let start = text.range(of: begin),
      let stop = text.range(of: end, range: start.upperBound..<text.endIndex)
    else { throw NoMarks(path: path) }
    try (text[..<start.upperBound] + "\n\(markdown)\n" + text[stop.lowerBound...])
      .write(toFile: path, atomically: true, encoding: .utf8)
  }
}

struct NoMarks: Error, CustomStringConvertible {
  let path: String
  var description: String { "\(path) has no marks to write a benchmark between" }
}
