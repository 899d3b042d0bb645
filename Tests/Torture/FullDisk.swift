import Foundation
import SchemaHistory
import SchemaTestPrograms
import SchemaTestSupport

/// Fills a small file system except for a few blocks. Tries every number of free blocks, up to a number that
/// is enough for all actions. Needs the permission to mount.
enum FullDisk: Campaign {
  static let name = "full-disk"
  /// The maximum number of free blocks of 4 KiB.
  private static let mostBlocks = 40

  static func run(_ run: Run) throws {
    try Harm.proveSeen(run)
    let userActions = try UserAction.all() + UserAction.all(isWAL: true) + FaultyCalls.userActions()
    var left = userActions.indices.flatMap { index in (0...mostBlocks).map { (index, $0) } }
      .shuffled(using: &run.generator)
    var disks: [Int: SmallDisk] = [:]
    while run.mayContinue, let (index, blocks) = left.popLast() {
      let userAction = userActions[index]
      if disks[index] == nil { disks[index] = SmallDisk(at: userAction.sandbox.folder) }
      guard let disk = disks[index] else {
        return say("not run: no file system can be mounted here")
      }
      try userAction.reset()
      try disk.fill(butFor: blocks)
      let ending = userAction.perform()
      disk.empty()
      let problem = try userAction.problem(of: ending) { ending in
        ending.status == .inputOutput
          && ["live.sqlite", "migrations"].contains(where: ending.message.contains)
      }
      run.note(
        ending == userAction.ending
          ? "the disk has just room" : "the disk is full: \(userAction.name)",
        shows: ending != userAction.ending,
        problem: problem.map { "\(blocks) blocks are free: \($0)" })
    }
    run.proveShown()
  }
}

/// A file system of 2 MiB, mounted on a folder.
private final class SmallDisk {
  private let folder: String
  private var filler: String { folder + "/filler" }

  /// Returns nil if the file system cannot be mounted.
  init?(at folder: String) {
    self.folder = folder
    let words = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]
    guard (try? SchemaTestPrograms.run("/usr/bin/env", words))?.code == 0 else { return nil }
    try? FileManager.default.createDirectory(
      atPath: folder + "/migrations", withIntermediateDirectories: true)
  }

  deinit { _ = try? SchemaTestPrograms.run("/usr/bin/env", ["umount", "-l", folder]) }

  func fill(butFor blocks: Int) throws {
    let space = try FileManager.default.attributesOfFileSystem(forPath: folder)
    let free = (space[.systemFreeSize] as? NSNumber)?.intValue ?? 0
    let count = max(0, free - blocks * 4096)
    try Data(repeating: 1, count: count).write(to: URL(fileURLWithPath: filler))
  }

  func empty() { try? FileManager.default.removeItem(atPath: filler) }
}
