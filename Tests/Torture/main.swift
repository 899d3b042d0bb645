import Foundation

// Causes faults, and counts the results that are neither the old nor the new state.
//
//   Torture [CAMPAIGN…] [--seed N] [--tries N] [--kind TEXT] [--seconds S | --minutes M] [--write FILE]
//
// Prints a table with one row for each kind of fault, and exits with 1 if a result was bad. `--tries` and
// `--seconds` limit each campaign, and `--minutes` limits all campaigns together. Equal seeds and tries give
// equal faults. `--kind` skips the attempts of the hostile campaigns whose row has another name. `--write`
// inserts the table into a document.

let campaigns: [any Campaign.Type] = [
  PowerCuts.self, AllocationFaults.self, IOFaults.self, SystemCallFaults.self, FullDisk.self,
  HostileDatabases.self, HostileManifests.self, KilledCopies.self,
  Kills.self, SignalsAtRandom.self, SystemCallsKilled.self, Growth.self, SchemaPairs.self,
]

var names: [String] = []
var seed = UInt64.random(in: 0..<1_000_000)
var tries = Int.max
var kind = ""
var seconds = 60.0
var end: ContinuousClock.Instant?
var document: String?
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
  switch word {
  case "--seed": seed = words.popFirst().flatMap(UInt64.init) ?? seed
  case "--tries": tries = words.popFirst().flatMap(Int.init) ?? tries
  case "--kind": kind = words.popFirst() ?? kind
  case "--seconds": seconds = words.popFirst().flatMap(Double.init) ?? seconds
  case "--minutes":
    end = words.popFirst().flatMap(Double.init).map { .now + .seconds($0 * 60) }
  case "--write": document = words.popFirst()
  case let name where campaigns.contains { $0.name == name }: names.append(name)
  default:
    say("unknown: \(word); campaigns: \(campaigns.map { $0.name }.joined(separator: ", "))")
    exit(64)
  }
}

var isClean = true
var report = Report(seed: seed)
let chosen = campaigns.filter { names.isEmpty || names.contains($0.name) }
for (index, campaign) in chosen.enumerated() {
  say("\(campaign.name): seed \(seed)")
  // Later campaigns share the time that earlier ones did not use.
  let time = end.map { (ContinuousClock.now.duration(to: $0)) / (chosen.count - index) }
  let run = try Run(seed: seed, limit: tries, kind: kind, time: time ?? .seconds(seconds))
  try campaign.run(run)
  report.add(run)
  isClean = isClean && run.isClean
}
print(report.table)
if let document { try report.write(to: document) }
exit(isClean ? 0 : 1)
