import Foundation
import SchemaFaultyFileSystem
import SchemaPlanning

/// Simulates a power failure after every write, sync and deletion of each command that changes a database,
/// and opens the remaining files.
enum PowerCuts: Campaign {
  static let name = "power-cuts"

  static func run(_ run: Run) throws {
    let folder = getenv("TMPDIR").map { String(cString: $0) }
    // Use a folder in memory if possible, because syncs take no time there.
    if access("/dev/shm", W_OK) == 0 { setenv("TMPDIR", "/dev/shm", 1) }
    defer { if let folder { setenv("TMPDIR", folder, 1) } else { unsetenv("TMPDIR") } }

    try proveThatFaultsAreSeen(run)
    var sightings = Sightings()
    for round in 0... {
      guard try cutAll(round, run, &sightings) else { break }
      if round == 0 { sightings.note(run) }
      guard run.mayContinue else { break }
    }
    say("\(name): \(sightings)")
  }

  /// Runs every scenario with every journal mode.
  ///
  /// - Returns: false if the time ended before.
  private static func cutAll(_ round: Int, _ run: Run, _ sightings: inout Sightings) throws -> Bool
  {
    let rows = scenarios.count * Conditions.Journal.allCases.count
    // The first round makes only a few attempts of each kind.
    let most = round == 0 ? min(400, run.share(of: 2 * rows)) : .max
    for scenario in scenarios {
      guard run.hasTime else { return false }
      let stage = try Stage(scenario, pageSize: Conditions.pageSize(in: round))
      for journal in Conditions.Journal.allCases {
        let trial = try Trial(stage, Conditions(journal, round: round))
        trial.run(run, &sightings, most: most)
        try trial.again(using: &run.generator).run(run, &sightings, most: most)
      }
    }
    return true
  }

  /// Checks that the campaign detects deliberate damage.
  private static func proveThatFaultsAreSeen(_ run: Run) throws {
    guard run.hasTime else { return }
    let stage = try Stage(Strategy.rewrite.scenario, pageSize: Conditions.pageSize(in: 0))
    for sabotage in Sabotage.allCases {
      for journal in sabotage.journals {
        let trial = try Trial(stage, Conditions(journal, round: 0), sabotage)
        let found = try trial.finds(using: &run.generator)
        run.note(
          "harness: \(sabotage.rawValue) is found",
          problem: found ? nil : "not found with \(journal.rawValue)")
      }
    }
  }
}
