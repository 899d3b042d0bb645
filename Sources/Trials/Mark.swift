import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Makes values that can be recognised wherever a migration puts them: each holds a number of seven
/// digits that no other value of the database holds.
struct MarkMaker {
  private static let first: Int64 = 7_000_000
  private static let most: Int64 = 999_999
  private var count: Int64 = 0

  /// - Parameter form: which of the column's forms; the next ones differ in what a migration may cut off.
  mutating func mark(for column: DeviceTable.Column, form: Int) -> Value {
    count = min(count + 1, Self.most)
    let number = Self.first + count
    switch column.affinity {
    case .integer, .numeric: return .integer(number)
    case .real: return .real(Double(number) + 0.375)
    case .blob where !column.type.isEmpty && !column.type.isSameName(as: "any"):
      return .blob(Array("\u{1}\u{2}\(number)\u{3}".utf8))
    case .blob, .text:
      switch form % 4 {
      case 1: return .text("00\(number)")
      case 2:
        let tail = String(repeating: "aB cD ", count: 64)
        return .text("  Milk \(number) \(tail) ")
      case 3: return .text("Bread \(number)")
      default: return .text("Milk \(number)")
      }
    }
  }

  /// The same mark in forms that a CHECK may ask for.
  static func forms(of value: Value) -> [Value] {
    guard let number = numbers(in: value).first else { return [] }
    let (hours, rest) = (number / 3600 % 24, number % 3600)
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = "\(padded(hours)):\(padded(rest / 60)):\(padded(rest % 60))"
    let text: [Value] = [
      .text("{\"a\": \"\(number)\"}"), .text("00000000-0000-4000-8000-00000\(number)"),
      .text("a\(number)@example.org"), .text("https://example.org/\(number)"),
      .text("2026-01-01 \(time)"), .text("2026-01-01T\(time)Z"), .text("\(number)"),
    ]
    return text + [.integer(number), .real(Double(number) + 0.5)]
  }

  /// The numbers of the marks that a value holds.
  static func numbers(in value: Value) -> [Int64] {
    switch value {
    case .null: return []
    case .integer(let number): return isMark(number) ? [number] : []
    case .real(let number):
      guard let whole = Int64(exactly: number.rounded(.down)) else { return [] }
      return isMark(whole) ? [whole] : []
    case .text(let text): return numbers(in: text.utf8)
    case .blob(let bytes): return numbers(in: bytes)
    }
  }

  private static func isMark(_ number: Int64) -> Bool { number > first && number <= first + most }

  private static func numbers(in bytes: some Sequence<UInt8>) -> [Int64] {
    var found: [Int64] = []
    var number: Int64?
    for byte in bytes {
      if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        let digit = Int64(byte - UInt8(ascii: "0"))
        number = min((number ?? 0) * 10 + digit, 1_000_000_000)
      } else {
        if let known = number, isMark(known) { found.append(known) }
        number = nil
      }
    }
    if let known = number, isMark(known) { found.append(known) }
    return found
  }
}

extension Value {
  /// Whether both are the same to a reader: 7 and 7.0, and a text of the same digits.
  func isSame(as other: Value) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.integer(let a), .real(let b)), (.real(let b), .integer(let a)): return Double(a) == b
    case (.integer(let a), .text(let b)), (.text(let b), .integer(let a)): return "\(a)" == b
    case (.real(let a), .text(let b)), (.text(let b), .real(let a)): return "\(a)" == b
    case (.text(let a), .blob(let b)), (.blob(let b), .text(let a)):
      return a.utf8.elementsEqual(b)
    default: return false
    }
  }
}
