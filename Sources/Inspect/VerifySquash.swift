import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// Verifies the migrations that the squash replaces: they are as they were frozen, and make the schema that the
  /// squash makes.
  func verifySquashed(
    into report: inout VerifyReport, _ interruption: Interruption
  ) throws(Failure) {
    guard let squash else { return }
    guard let old = try squashedMigrations() else {
      report.notes.append(
        "the migrations that \(squash.id) replaces were not verified: \(folder.squashed.path) does not exist"
      )
      return
    }
    let names = squash.replacedMigrations
    let chain = names.compactMap { id in old.first { $0.id == id } }
    let view = unsquashed(chain)
    let squashedNumber = squash.number
    var states = view.comparison.filter { MigrationNumber(id: $0.id) <= squashedNumber }
    // The chain does not contain older squashes.
    for other in old where squash.olderSquashes.contains(other.id) {
      guard let entry = lock?.anyEntry(other.id) else { continue }
      states.append(folder.squashed.compare(other, with: entry))
    }
    let known = Set(states.map(\.id.exact)).union(chain.map(\.id.exact))
    states += names.filter { !known.contains($0) }.map { id in
      HistoryEntry(
        id: id, frozen: true, state: .removed,
        detail: "\(folder.squashed.file(ofMigration: id)) is missing: restore it from git")
    }
    guard report.failure == nil, !report.isHistoryBroken,
      !states.contains(where: \.state.isBroken), chain.count == names.count
    else {
      report.history += states
      return
    }
    let last = try view.replay(chain, interruption: interruption)
    let first = try replay([squash], interruption: interruption)
    if last.fingerprint != first.fingerprint {
      let differences = compareSchemas(expected: last.schema, actual: first.schema)
      report.failure = Failure(
        .brokenHistory,
        "\(squash.id) does not create the schema of the migrations that it "
          + "replaces:",
        details: differences.map(\.sentence).abridged(to: 20))
    }
    report.history += states
  }
}
