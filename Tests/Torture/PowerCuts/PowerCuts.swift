import FaultyFileSystem
import Foundation
import Planning
import SQLite
import TestSupport

/// Cuts the power after every write, sync and deletion of everything that schemactl does to a
/// database, and opens what is left.
enum PowerCuts: Campaign {
  static let name = "power-cuts"

  static func run(_ run: Run) throws {
    let folder = getenv("TMPDIR").map { String(cString: $0) }
    // In memory, where there is such a folder: what is synced there is waited for by nobody.
    if access("/dev/shm", W_OK) == 0 { setenv("TMPDIR", "/dev/shm", 1) }
    defer { if let folder { setenv("TMPDIR", folder, 1) } else { unsetenv("TMPDIR") } }

    try proveThatFaultsAreSeen(run)
    var sightings = Sightings()
    for round in 0... where round == 0 || run.goesOn {
      for scenario in scenarios {
        for journal in Conditions.Journal.allCases {
          let trial = try Trial(scenario, Conditions(journal, round: round))
          trial.run(run, &sightings, most: round == 0 ? min(400, run.share(of: rows)) : .max)
        }
      }
    }
    say("\(name): \(sightings)")
    sightings.note(run)
  }

  private static var rows: Int { scenarios.count * Conditions.Journal.allCases.count }

  /// Without this nobody knows whether the harness sees anything.
  private static func proveThatFaultsAreSeen(_ run: Run) throws {
    for sabotage in Sabotage.allCases {
      let scenario = Strategy.rebuild.scenario
      for journal in sabotage.journals {
        let trial = try Trial(scenario, Conditions(journal, round: 0), sabotage)
        let found = try trial.finds(using: &run.generator)
        run.note(
          "harness: \(sabotage.rawValue) is found",
          problem: found ? nil : "not found with \(journal.rawValue)")
      }
    }
  }
}
