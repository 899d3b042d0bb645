import History
import Planning
import SQLText
import SQLite

/// A history lock made of the two sides of a merge.
package struct ResolveReport: Sendable {
  package let lock: HistoryLock
  /// What is frozen behind the beginning that both sides have.
  package let ids: [String]
  /// Drafts that have to be renumbered now.
  package let toRebase: [String]
  /// What a person has to know of the result.
  package let notes: [String]
}

/// The lock that both sides of a merge conflict make; nothing is written.
///
/// - Throws: two migrations with one number, marks or sides that are broken, a manifest that one
///   side has frozen and that is not there.
package func resolveLock(
  _ conflict: LockConflict, in folder: MigrationFolder, _ application: Application
) throws -> ResolveReport {
  let merge = try LockMerge(
    ours: conflict.ours, theirs: conflict.theirs, file: folder.lockFile)
  let migrations: [Migration]
  do throws(HistoryReadError) {
    migrations = try folder.migrations()
  } catch {
    // What has the number of a frozen one is found by its name, whatever else is wrong.
    let frozen = Dictionary(
      conflict.frozenIDs.map { (MigrationNumber(id: $0.text), $0) }, uniquingKeysWith: { a, _ in a }
    )
    let rivals = try folder.ids().filter { id in
      !conflict.frozenIDs.contains(id) && frozen[MigrationNumber(id: id)] != nil
    }
    guard !rivals.isEmpty else { throw error }
    throw Failure(
      .invalidInput,
      "\(rivals.joined(separator: ", ")): the number is that of a frozen migration; renumber it "
        + "with `\(rebaseCommand(rivals))`, and resolve again")
  }
  let files = Dictionary(migrations.map { ($0.id.exact, $0) }, uniquingKeysWith: { a, _ in a })
  for entry in merge.entries {
    guard files[entry.id] == nil else { continue }
    throw Failure(
      .brokenHistory,
      "\(entry.id) was frozen on one of the branches, and its file is not there: resolve the "
        + "conflicts of the manifests first")
  }
  // A draft between frozen ones has to move, and is no part of what they are.
  let project = Project(
    folder: folder, migrations: migrations.filter { conflict.frozenIDs.contains($0.id) },
    lock: nil, application: application)
  let fingerprints = merge.needsReplay ? try project.fingerprints() : [:]
  let lock = try merge.lock(fingerprints: fingerprints, sqlite: Connection.libraryVersion)
  let toRebase = folder.compare(migrations, with: lock).filter { $0.state == .inserted }.map(\.id)
  var notes = merge.dropped
  let moving =
    "has not shipped, \(LockMerge.taking(folder.lockFile)), renumber this one's "
    + "(`\(rebaseCommand(merge.own))`) and freeze them again"
  if merge.isInterleaved {
    notes.append(
      "migrations of one branch come between those of the other: a database that has run the later "
        + "ones without the earlier ones is refused (missing), and so is this lock once it is "
        + "committed, by `--base` of either branch. If what this branch froze \(moving)")
  } else if !merge.early.isEmpty {
    notes.append(
      "\(merge.early.joined(separator: ", ")): the branch that is being merged froze what comes "
        + "after, so `--base` of it refuses this lock once it is committed. If it "
        + moving
    )
  }
  return ResolveReport(
    lock: lock, ids: merge.entries.map(\.id), toRebase: toRebase, notes: notes)
}

extension Project {
  /// Of the schema after each migration.
  fileprivate func fingerprints() throws(Failure) -> [ExactText: String] {
    try requireEngine(for: migrations)
    var fingerprints: [ExactText: String] = [:]
    try replay(observing: { fingerprints[$0.migration.id] = $1.fingerprint })
    return fingerprints
  }
}
