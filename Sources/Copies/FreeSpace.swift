import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// The room on a disk, which is asked for before anything large is written there.
package enum FreeSpace {
  /// - Parameter purpose: what needs it: `a backup of app.sqlite`.
  /// - Throws: when there is less (74).
  static func require(
    _ bytes: Int64, in folder: String, for purpose: String
  ) throws(Failure) {
    // Where the file system cannot tell, the write itself will find out.
    guard let free = freeBytes(inFolder: folder), free < bytes else { return }
    throw Failure(
      .inputOutput,
      "\(purpose) needs \(size(bytes, .up)), and \((try? resolvedPath(folder)) ?? folder) has "
        + "\(size(free, .down)) free. Free some space first")
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
}
