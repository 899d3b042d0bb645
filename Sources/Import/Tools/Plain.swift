import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// SQL files with a number in their names, and no ledger: `001_create_users.sql`, `migration-2.sql`,
/// `2020-01-31_tags.sql`. Some tools add the down section below a comment, or in a separate file.
enum Plain: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool { true }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts {
      guard let name = stem(fileName(path), without: ".sql"), let (number, rest) = split(name)
      else { continue }
      if isDown(name) {
        reader.noteDown(file: path)
        continue
      }
      let file = try reader.file(path)
      let marks = file.remarks.compactMap { remark in
        direction(remark.text).map { (isUp: $0, range: remark.range) }
      }
      let up = marks.first(where: \.isUp)
      let down = marks.first { !$0.isUp && $0.range.lowerBound > up?.range.lowerBound ?? 0 }
      var range = file.whole
      if let up, let down {
        range = up.range.upperBound..<down.range.lowerBound
        reader.noteEarly(path, file, up.range)
        reader.noteDown(path, file, down.range)
      }
      reader.add(
        number: number, name: withoutDirection(rest), path,
        UpPart(file, range, of: reader.tool), nil)
    }
    reader.steps.sort { a, b in
      let folders = (NaturalOrder(folderName(a.source)), NaturalOrder(folderName(b.source)))
      guard folders.0 == folders.1 else { return folders.0 < folders.1 }
      let numbers = (MigrationNumber(id: a.number), MigrationNumber(id: b.number))
      return numbers.0 == numbers.1
        ? NaturalOrder(a.source) < NaturalOrder(b.source) : numbers.0 < numbers.1
    }
  }

  /// Text that is compared with its digits as numbers. Names are often versions: 0.9 comes before 0.10.
  private struct NaturalOrder: Comparable {
    private let parts: [String]

    init(_ text: String) {
      var parts: [String] = []
      var isNumber = false
      for scalar in text.unicodeScalars {
        let isDigit = ("0"..."9").contains(scalar)
        if parts.isEmpty || isDigit != isNumber { parts.append("") }
        parts[parts.count - 1].unicodeScalars.append(scalar)
        isNumber = isDigit
      }
      self.parts = parts
    }

    static func == (a: NaturalOrder, b: NaturalOrder) -> Bool { !(a < b) && !(b < a) }

    static func < (a: NaturalOrder, b: NaturalOrder) -> Bool {
      for (first, second) in zip(a.parts, b.parts) where first != second {
        let numbers = (MigrationNumber(id: first), MigrationNumber(id: second))
        return numbers.0 == numbers.1 ? first < second : numbers.0 < numbers.1
      }
      return a.parts.count < b.parts.count
    }
  }

  /// Splits a name into its first number and the rest. The parts of a date are one number.
  private static func split(_ name: String) -> (number: String, rest: String)? {
    let bytes = Array(name.utf8)
    guard let start = bytes.firstIndex(where: \.isDigit) else { return nil }
    var end = bytes[start...].firstIndex { !$0.isDigit } ?? bytes.count
    var number = Array(bytes[start..<end])
    // A date, such as 2020-01-31 or 2020_01_31_120000.
    if number.count == 4, [UInt8(ascii: "1"), UInt8(ascii: "2")].contains(number[0]) {
      while end + 2 < bytes.count, "-_.".utf8.contains(bytes[end]), bytes[end + 1].isDigit,
        bytes[end + 2].isDigit
      {
        let next = bytes[(end + 1)...].firstIndex { !$0.isDigit } ?? bytes.count
        guard [2, 4, 6].contains(next - end - 1) else { break }
        number += bytes[(end + 1)..<next]
        end = next
      }
    }
    let before = bytes[..<start].filter { _ in start > 1 }
    // A version keeps all its parts, as in 4.0.0_to_4.2.0.
    let isVersion =
      end + 1 < bytes.count && bytes[end] == UInt8(ascii: ".") && bytes[end + 1].isDigit
    let rest = before + bytes[(isVersion ? start : end)...]
    return (String(decoding: number, as: UTF8.self), String(decoding: rest, as: UTF8.self))
  }

  private static let upEndings = [".up", "_up", "-up"]
  private static let downEndings = [
    ".down", "_down", "-down", ".undo", "_undo", "-undo", ".rollback", "_rollback", "-rollback",
  ]

  private static func isDown(_ name: String) -> Bool {
    downEndings.contains { stem(name, without: $0) != nil }
  }

  private static func withoutDirection(_ name: String) -> String {
    upEndings.lazy.compactMap { stem(name, without: $0) }.first ?? name
  }

  /// Returns whether a comment begins the up section or, if false, the down section; nil for other comments.
  /// Examples: `-- Up`, `-- rambler up`, `-- @DOWN`, or a tool's name after a plus sign and perhaps options,
  /// as in `-- +migrate Up notransaction`.
  private static func direction(_ remark: String) -> Bool? {
    let words = remark.lowercased().split { " +@:-=".contains($0) }.map(String.init)
    let rest =
      remark.hasPrefix("+") && words.count > 1
      ? [words[1]]
      : words.filter { !["migrate", "migration", "rambler", "section"].contains($0) }
    guard rest.count == 1 else { return nil }
    return rest[0] == "up" ? true : rest[0] == "down" ? false : nil
  }
}
