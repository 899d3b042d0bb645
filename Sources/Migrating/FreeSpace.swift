import History
import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Room on a disk, asked for before anything large is written there.
package enum FreeSpace {
  /// - Parameter purpose: what needs it: `a backup of app.sqlite`.
  /// - Throws: when there is less (74).
  static func require(
    _ bytes: Int64, in folder: String, for purpose: String
  ) throws(Failure) {
    // Where nobody can tell, the write itself will find out.
    guard let free = left(in: folder), free < bytes else { return }
    throw Failure(
      .inputOutput,
      "\(purpose) needs \(size(bytes, .up)), and \(named(folder)) has \(size(free, .down)) free. "
        + "Nothing was changed: make room there first")
  }

  /// In bytes; nil when the file system cannot tell, which then says that it has no blocks at all.
  static func left(in folder: String) -> Int64? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return nil }
    return Int64(clamping: UInt64(status.f_bavail).saturatingTimes(UInt64(status.f_frsize)))
  }

  /// `466 MB`, as disks are sold.
  package static func size(_ bytes: Int64, _ rule: FloatingPointRoundingRule = .up) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
    var amount = Double(bytes)
    var unit = 0
    while amount >= 1000, unit < units.count - 1 {
      amount /= 1000
      unit += 1
    }
    let tenths = (amount * 10).rounded(rule) / 10
    let isWhole = unit == 0 || amount >= 10
    return "\(isWhole ? String(Int64(amount.rounded(rule))) : String(tenths)) \(units[unit])"
  }

  private static func named(_ folder: String) -> String {
    (try? resolvedPath(folder)) ?? folder
  }
}

extension FixedWidthInteger {
  /// The sum, or the largest number where it does not fit. Some file systems report 16 EiB, and a sparse
  /// file can be nearly as large: what is more than fits is more than there is.
  func saturatingPlus(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }

  /// The product of numbers that are not negative, or the largest number where it does not fit.
  func saturatingTimes(_ other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}
