import History
import SQLText

/// What the name of a backup says after the database's: `app.sqlite.backup-0007-20261120T130000Z`.
///
/// The number counts up in the folder and says which one is the newest. The time says it only to
/// people: a clock that was ahead once would make a newest backup for years.
struct BackupName: Sendable, Hashable, Comparable {
  /// Between the database's name and the rest.
  static let mark = ".backup-"

  /// From 1; 0 for a name that has none, and is older than all that have.
  let number: Int
  let madeAt: Timestamp
  /// Of several with the same number and time, which runs that meet may give; from 1.
  let copy: Int

  /// - Parameter text: what follows the mark.
  init?(_ text: String) {
    var parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts[0].utf8.contains(UInt8(ascii: "T")) { parts.insert("0", at: 0) }
    guard (2...3).contains(parts.count), let number = Self.number(parts[0]),
      let madeAt = Timestamp(compact: parts[1]),
      let copy = parts.count == 2 ? 1 : Self.number(parts[2]), copy > 0
    else { return nil }
    self.number = number
    self.madeAt = madeAt
    self.copy = copy
  }

  /// - Parameter path: of a backup of any database; nil for a file of another name.
  init?(ofFile path: String) {
    let name = String(decoding: nameBytes(of: path), as: UTF8.self)
    guard let mark = name.ranges(of: Self.mark).last else { return nil }
    self.init(String(name[mark.upperBound...]))
  }

  /// What follows the mark in the name of a new one.
  static func text(_ number: Int, _ madeAt: Timestamp) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "-" + madeAt.compact
  }

  /// With so few digits there is always a next one.
  private static func number(_ digits: String) -> Int? {
    guard (1...18).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    return Int(digits)
  }

  static func < (a: BackupName, b: BackupName) -> Bool {
    (a.number, a.madeAt.milliseconds, a.copy) < (b.number, b.madeAt.milliseconds, b.copy)
  }
}
