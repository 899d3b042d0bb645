import History

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How old a copy is that is put back: all that was done since is gone with it.
package struct BackupAge: Sendable, Hashable {
  package let madeAt: Timestamp
  /// Whether the name says it; otherwise it is when the file was last written.
  package let isNamed: Bool

  /// Nil where nobody can tell.
  init?(of path: String) {
    if let name = BackupName(ofFile: path) {
      madeAt = name.madeAt
      isNamed = true
      return
    }
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    madeAt = Timestamp(milliseconds: Int64(status.modified.tv_sec) * 1000)
    isNamed = false
  }

  /// `made at 2026-11-20T13:00:00Z, 3 hours ago`
  package func inWords(at now: Timestamp = .now) -> String {
    "\(isNamed ? "made" : "last written") at \(madeAt.toTheSecond)"
      + (madeAt.age(at: now).map { ", \($0) ago" } ?? " (the clock is behind it)")
  }
}
