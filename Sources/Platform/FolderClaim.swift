/// The right to change what is in a folder of manifests: one process at a time has it, from before
/// it reads what is there until it has written what follows from that.
///
/// A lock of the operating system (flock(2)) on the folder itself, as far as its file system knows
/// locks; it ends with the process at the latest.
package struct FolderClaim: ~Copyable {
  /// -1 where nothing can be locked: then what is wrong with the folder shows when it is read.
  private let descriptor: Int32

  /// - Parameter timeout: how long to wait for another process, in seconds.
  /// - Returns: nil when another process has it for longer.
  package init?(_ path: String, timeout: Double) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let waiting = Stopwatch()
    while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      guard waiting.seconds < timeout else {
        close(descriptor)
        return nil
      }
      usleep(5000)
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}
