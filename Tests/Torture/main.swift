import Foundation

// Makes faults happen, and counts those that end in anything but the old or the new state.
//
//   Torture [CAMPAIGN…] [--seed N] [--tries N] [--seconds S]
//
// Prints a table, one row for each kind of fault, and exits with 1 when one ended badly. `--tries`
// and `--seconds` are limits for each campaign. The same seed and tries are the same faults.

let campaigns: [any Campaign.Type] = [Growth.self]

var names: [String] = []
var seed = UInt64.random(in: 0..<1_000_000)
var tries = Int.max
var seconds = 60.0
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  switch word {
  case "--seed": seed = words.popFirst().flatMap(UInt64.init) ?? seed
  case "--tries": tries = words.popFirst().flatMap(Int.init) ?? tries
  case "--seconds": seconds = words.popFirst().flatMap(Double.init) ?? seconds
  case let name where campaigns.contains { $0.name == name }: names.append(name)
  default:
    say("unknown: \(word); campaigns: \(campaigns.map { $0.name }.joined(separator: ", "))")
    exit(64)
  }
}

var isClean = true
print("| what was done | tried | bad |\n|---|---|---|")
for campaign in campaigns where names.isEmpty || names.contains(campaign.name) {
  say("\(campaign.name): seed \(seed)")
  let run = try Run(seed: seed, limit: tries, time: .seconds(seconds))
  try campaign.run(run)
  for kind in run.kinds {
    guard let tally = run.tallies[kind] else { continue }
    print("| \(kind) | \(tally.tried) | \(tally.bad.count) |")
  }
  isClean = isClean && run.isClean
}
exit(isClean ? 0 : 1)
