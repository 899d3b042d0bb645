import SchemaHistory

/// A lock is refused, or is equal after writing and reading it.
enum LockTarget: FuzzTarget {
  static let name = "lock"

  static func take(_ bytes: [UInt8]) throws {
    guard let lock = try? HistoryLock.repairing(bytes).lock else { return }
    let rendered = lock.rendered()
    try promise((try? HistoryLock(parsing: rendered)) == lock, "what is written is not read")
    guard (try? HistoryLock(parsing: bytes)) != nil else { return }
    let lines = bytes.filter { $0 != UInt8(ascii: "\r") }.split(separator: UInt8(ascii: "\n"))
    try promise(
      Set(lines) == Set(rendered.split(separator: UInt8(ascii: "\n"))),
      "other lines are read than are written")
  }
}
