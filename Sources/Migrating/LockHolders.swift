import History

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension DatabaseFile {
  /// The other processes that keep a database locked, as a person knows them: `sqlite3 (process 12)`.
  /// Empty where the system does not tell, which is everywhere but on Linux, and once they are gone.
  ///
  /// Read from `/proc/locks` (proc(5)): to open the database itself and close it again would give up
  /// the locks that this process may have on it (How To Corrupt An SQLite Database, section 2.2).
  static func lockHolders(_ path: String) -> [String] {
    // With a write-ahead log the locks that count are on its index; all that have the database open
    // have one on the database itself.
    let index = identity(path + "-shm")
    guard let file = index ?? identity(path), let locks = try? readFile("/proc/locks") else {
      return []
    }
    let processes = String(decoding: locks, as: UTF8.self).split(separator: "\n")
      .compactMap { LockLine($0) }
      .filter { $0.file == file && (index == nil || $0.isExclusive) && $0.process != getpid() }
      .map(\.process)
    return Set(processes).sorted().prefix(3).map { process in
      let name = (try? readFile("/proc/\(process)/comm")) ?? []
      let text = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      return text.isEmpty ? "process \(process)" : "\(text) (process \(process))"
    }
  }
}

/// As `/proc/locks` writes it: `fe:00:1636`, the device in hexadecimal.
private func identity(_ path: String) -> String? {
  var status = stat()
  guard stat(path, &status) == 0 else { return nil }
  let device = UInt64(truncatingIfNeeded: status.st_dev)
  // makedev(3), of which only the C macro is there.
  let parts = [device >> 8 & 0xFFF | device >> 32 & ~0xFFF, device & 0xFF | device >> 12 & ~0xFF]
  let numbers = parts.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
  return "\(numbers.joined(separator: ":")):\(status.st_ino)"
}

/// `6: POSIX  ADVISORY  WRITE 3091 fe:00:1636 1073741825 1073741825`
private struct LockLine {
  let isExclusive: Bool
  let process: pid_t
  let file: String

  /// Nil for a lock of another kind, and for one that is only waited for (`->`).
  init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count > 5, words[1] == "POSIX", let process = pid_t(words[4]), process > 0 else {
      return nil
    }
    isExclusive = words[3] == "WRITE"
    self.process = process
    file = String(words[5])
  }
}
