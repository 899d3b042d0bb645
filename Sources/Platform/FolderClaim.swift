/// An exclusive claim to change a folder of manifests. A process holds it from before it reads the
/// files until it has written its changes.
///
/// It is a lock of the operating system (flock(2)) on the folder itself, if its file system
/// supports locks. The lock ends with the process at the latest.
package struct FolderClaim: ~Copyable {
  /// -1 if nothing can be locked. Errors of the folder are then reported when it is read.
  private let descriptor: Int32

  /// - Parameter timeout: how long to wait for another process, in seconds.
  /// - Returns: nil if another process holds the claim for longer.
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
