import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What SQLite keeps beside a database, and would take for a part of whatever gets its name.
extension DatabaseFile {
  static let companions = ["-journal", "-wal", "-shm"]

  /// Whether nothing has the name, and nothing is left beside it of what had it.
  static func isFree(_ name: String) -> Bool {
    var status = stat()
    return ([""] + companions).allSatisfy { lstat(name + $0, &status) != 0 }
  }

  /// The file last, by which what is left of a removal that ends half way is found again.
  static func remove(_ name: String) {
    for suffix in companions + [""] { unlink(name + suffix) }
  }
}
