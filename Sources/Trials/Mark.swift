import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// Creates values that can be recognised wherever a migration copies them. Each contains a number
/// of seven digits that identifies it, or a larger integer that stands for such a number.
struct MarkMaker {
  private static let first: Int64 = 7_000_000
  private static let most: Int64 = 999_999
  /// The distance between the numbers of marks, so that the result of `n + 1` is not another mark. It limits the
  /// number of different marks to 76,923.
  private static let step: Int64 = 13
  /// An odd number above 2^53.
  private static let large: Int64 = 9_100_000_000_000_001
  private var count: Int64 = 0

  /// - Parameter form: the index of the column's form. Forms differ in the parts that a migration
  ///   may cut off.
  mutating func mark(for column: DeviceTable.Column, form: Int) -> Value {
    count = min(count + Self.step, Self.most)
    let number = Self.first + count
    switch column.affinity {
    case .integer, .numeric:
      guard !column.isInKey else { return .integer(number) }
      switch form % 4 {
      case 1: return column.holdsFractions ? .real(-Double(number) - 0.25) : .integer(-number)
      // A floating-point number cannot represent these.
      case 2: return .integer(Self.large + 2 * count)
      case 3: return .integer(-(Self.large + 2 * count))
      default: return .integer(number)
      }
    case .real: return .real((Double(number) + 0.123_456_7) * (form % 4 == 1 ? -1 : 1))
    case .blob where !column.type.isEmpty && !column.type.isSameName(as: "any"):
      let tail = String(repeating: "\u{3}\u{4}\u{5}", count: form % 4 == 2 ? 4000 : 1)
      return .blob(Array("\u{1}\u{2}\(number)\(tail)".utf8))
    case .blob, .text:
      switch form % 4 {
      case 1: return .text("00\(number)")
      case 2:
        let tail = String(repeating: "aB cD-eF/gH\n", count: 1000)
        return .text("  Milk \(number) \(tail) ")
      case 3: return .text("Bread \(number)")
      default: return .text("Milk \(number)")
      }
    }
  }

  /// The same mark in formats that CHECKs may require.
  static func forms(of value: Value) -> [Value] {
    guard let number = numbers(in: value).first else { return [] }
    let text: [Value] = [
      .text("{\"a\": \"\(number)\"}"), .text("000000aB-0000-4000-8000-00000\(number)"),
      .text("00000000-0000-4000-8000-00000\(number)"), .text(" aB\(number)@Example.org "),
      .text("aB\(number)@Example.org"), .text("a\(number)@example.org"),
      .text("https://example.org/aB?b=\(number)#c"), .text("https://example.org/a?b=\(number)#c"),
      .text("+\(number)"),
      .text("2026-01-01 \(clock(number))"), .text("2026-01-01T\(clock(number))Z"),
      .text("\(number)"),
    ]
    let large = Self.large + 2 * (number - first)
    let integers: [Value] = [.integer(number), .integer(large)]
    let real = Value.real(Double(number) + 0.5)
    // An integer would not show that a column loses its fractions.
    if case .real = value { return text + [real] + integers }
    return text + integers + [real]
  }

  /// A time that is derived from the mark.
  static func time(of value: Value) -> Value? {
    numbers(in: value).first.map { .text("2026-01-01 \(clock($0))") }
  }

  /// The mark as a text instead of a number, and as bytes instead of a text.
  static func otherType(of value: Value) -> Value {
    let number = numbers(in: value).first ?? 0
    return value.text == nil ? .text("Milk \(number)") : .blob(Array("\u{1}\(number)".utf8))
  }

  /// A JSON object with the mark in each of these members, and another member.
  static func object(_ mark: Value, _ members: [String], rest: Int64 = 1) -> Value {
    let text = Value.text("Milk \(numbers(in: mark).first ?? 0)")
    return object(members.map { ($0, text) } + [("zebra", .integer(rest))])
  }

  /// A JSON list of different elements that contain the mark: objects with these members, or texts.
  static func list(of mark: Value, _ members: [String], count: Int) -> Value {
    let number = numbers(in: mark).first ?? 0
    let elements = (0..<count).map { place -> String in
      let mark = Value.text(place == 0 ? "Milk \(number)" : "Bread \(number) \(place)")
      return members.isEmpty
        ? "\"\(mark.text ?? "")\"" : object(members.map { ($0, mark) }).text ?? ""
    }
    return .text("[\(elements.joined(separator: ", "))]")
  }

  /// - Parameter members: the path of each member, without `$.`, and its value.
  static func object(_ members: [(path: String, value: Value)]) -> Value {
    let texts = members.map { path, value in
      let escaped = value.text.map { text in
        String(text.flatMap { ["\"", "\\"].contains($0) ? "\\\($0)" : "\($0)" })
      }
      let names = path.split { $0 == "." }
      let inner = names.dropFirst().reversed()
        .reduce(escaped.map { "\"\($0)\"" } ?? value.sql) { "{\"\($1)\": \($0)}" }
      return "\"\(names.first ?? "")\": \(inner)"
    }
    return .text("{\(texts.joined(separator: ", "))}")
  }

  private static func clock(_ number: Int64) -> String {
    let parts = [number / 3600 % 24, number / 60 % 60, number % 60]
    return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  /// The numbers of the marks that a value contains.
  static func numbers(in value: Value) -> [Int64] {
    switch value {
    case .null: return []
    case .integer(let number): return [mark(number.magnitude)].compactMap { $0 }
    case .real(let number):
      return [Int64(exactly: number.rounded(.towardZero)).flatMap { mark($0.magnitude) }].compactMap
      {
        $0
      }
    case .text(var text): return text.withUTF8(numbers)
    case .blob(let bytes): return bytes.withUnsafeBufferPointer(numbers)
    }
  }

  /// The number of the mark that an integer represents.
  private static func mark(_ number: UInt64) -> Int64? {
    guard let number = Int64(exactly: number) else { return nil }
    let (half, rest) = (number - large).quotientAndRemainder(dividingBy: 2)
    let count = number <= first + most ? number - first : rest == 0 ? half : 0
    return count > 0 && count <= most && count % step == 0 ? first + count : nil
  }

  private static func numbers(in bytes: UnsafeBufferPointer<UInt8>) -> [Int64] {
    var found: [Int64] = []
    var number: UInt64?
    for byte in bytes {
      if byte.isDigit {
        number = min(
          (number ?? 0) * 10 + UInt64(byte - UInt8(ascii: "0")), 1_000_000_000_000_000_000)
      } else {
        if let mark = number.flatMap(mark) { found.append(mark) }
        number = nil
      }
    }
    if let mark = number.flatMap(mark) { found.append(mark) }
    return found
  }
}

extension Value {
  /// Whether both values are equal to a reader, such as 7, 7.0 and a text of the same digits.
  func isSame(as other: Value) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.integer(let a), .real(let b)), (.real(let b), .integer(let a)):
      return Int64(exactly: b) == a
    case (.integer(let a), .text(let b)), (.text(let b), .integer(let a)): return "\(a)" == b
    case (.real(let a), .text(let b)), (.text(let b), .real(let a)): return "\(a)" == b
    case (.text(let a), .blob(let b)), (.blob(let b), .text(let a)):
      return a.utf8.elementsEqual(b)
    default: return false
    }
  }
}
