import Foundation
import Testing

/// A mounted file system of a given size, which is unmounted at the end.
package final class SmallDisk {
  package let path: String

  /// - Parameters:
  ///   - folder: the folder in which it is mounted, as `disk`.
  ///   - size: in the notation of `mount`: `300k`.
  package init(in folder: String, _ size: String) throws {
    path = folder + "/disk"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let mount = ["mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]
    let ended = try run("/usr/bin/env", mount)
    guard ended.code == 0 else { throw CannotMount(reason: ended.errors) }
  }

  deinit { _ = try? run("/usr/bin/env", ["umount", "--lazy", path]) }

  package struct CannotMount: Error {
    let reason: String
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests that mount a file system, which needs root and the right to mount.
  package static var needsMount: Self {
    .enabled("needs the right to mount a file system") {
      guard let folder = try? WorkingFolder() else { return false }
      return (try? SmallDisk(in: folder.path, "64k")) != nil
    }
  }
}
