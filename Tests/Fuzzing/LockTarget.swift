import History

/// A lock is refused, or says the same again when it is written anew.
enum LockTarget: FuzzTarget {
  static let name = "lock"

  static func take(_ bytes: [UInt8]) throws {
    guard let lock = try? HistoryLock(parsing: bytes) else { return }
    let rendered = lock.rendered()
    let withoutCR = bytes.filter { $0 != UInt8(ascii: "\r") }
    try promise(rendered == withoutCR, "what was read is not what is written")
    try promise(
      (try? HistoryLock(parsing: rendered))?.rendered() == rendered, "what is written is not read")
  }
}
