import SchemaSQLText
import SchemaSQLite

/// The types of requests (dqlite.io, Wire protocol: Client messages).
package enum Request {
  package static let leader: UInt8 = 0
  package static let client: UInt8 = 1
  package static let open: UInt8 = 3
  package static let execute: UInt8 = 8
  package static let query: UInt8 = 9
  package static let cluster: UInt8 = 16
}

/// The types of answers (dqlite.io, Wire protocol: Server messages).
enum Answer {
  static let failure: UInt8 = 0
  static let rows: UInt8 = 7
}

/// The type codes of values.
private enum TypeCode {
  static let integer: UInt8 = 1
  static let real: UInt8 = 2
  static let text: UInt8 = 3
  static let blob: UInt8 = 4
  static let null: UInt8 = 5
  static let time: UInt8 = 9
  static let date: UInt8 = 10
  static let boolean: UInt8 = 11
}

private let wordSize = 8

/// The body of a message: words of eight bytes, little endian.
package struct MessageWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func write(_ word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Writes a text and a zero byte. The text must not contain a zero byte.
  package mutating func write(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
    pad()
  }

  /// Writes the values of a statement's parameters.
  package mutating func write(_ values: [Value]) {
    guard !values.isEmpty else { return }
    bytes.append(UInt8(clamping: values.count))
    bytes.append(contentsOf: values.map(\.typeCode))
    pad()
    for value in values {
      switch value {
      case .null: write(0)
      case .integer(let integer): write(UInt64(bitPattern: integer))
      case .real(let real): write(real.bitPattern)
      case .text(let text): write(text)
      case .blob(let blob):
        write(UInt64(blob.count))
        bytes.append(contentsOf: blob)
        pad()
      }
    }
  }

  private mutating func pad() {
    while !bytes.count.isMultiple(of: wordSize) { bytes.append(0) }
  }

  /// Returns the message: the header and the body.
  func message(_ type: UInt8) -> [UInt8] {
    var header = MessageWriter()
    header.write(UInt64(UInt32(clamping: bytes.count / wordSize)) | UInt64(type) << 32)
    return header.bytes + bytes
  }
}

extension Value {
  fileprivate var typeCode: UInt8 {
    switch self {
    case .integer: TypeCode.integer
    case .real: TypeCode.real
    case .text: TypeCode.text
    case .blob: TypeCode.blob
    case .null: TypeCode.null
    }
  }
}

/// Reads the body of an answer, word by word.
package struct MessageReader {
  let type: UInt8
  private let bytes: [UInt8]
  private var offset = 0

  init(type: UInt8, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }

  package mutating func word() throws(DatabaseError) -> UInt64 {
    guard offset + wordSize <= bytes.count else { throw .malformedAnswer }
    defer { offset += wordSize }
    return bytes[offset..<(offset + wordSize)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func text() throws(DatabaseError) -> String {
    guard offset < bytes.count, let end = bytes[offset...].firstIndex(of: 0) else {
      throw .malformedAnswer
    }
    let text = String(decoding: bytes[offset..<end], as: UTF8.self)
    offset += padded(end + 1 - offset)
    return text
  }

  /// Reads one batch of a result's rows.
  ///
  /// - Returns: whether another batch follows.
  mutating func rows(into rows: inout [[Value]]) throws(DatabaseError) -> Bool {
    let columns = Int(clamping: try word())
    guard columns <= bytes.count / wordSize else { throw .malformedAnswer }
    for _ in 0..<columns { _ = try text() }
    while true {
      let start = offset
      switch try word() {
      case .max: return false
      case 0xEEEE_EEEE_EEEE_EEEE: return true
      default: offset = start
      }
      rows.append(try row(of: columns))
    }
  }

  private mutating func row(of columns: Int) throws(DatabaseError) -> [Value] {
    // A byte contains two type codes. The codes are padded to a word.
    let header = padded((columns + 1) / 2)
    guard columns > 0, offset + header <= bytes.count else { throw .malformedAnswer }
    let codes = (0..<columns).map { column in
      bytes[offset + column / 2] >> (column.isMultiple(of: 2) ? 0 : 4) & 15
    }
    offset += header
    var row: [Value] = []
    for code in codes { row.append(try value(code)) }
    return row
  }

  private mutating func value(_ code: UInt8) throws(DatabaseError) -> Value {
    switch code {
    case TypeCode.integer, TypeCode.time, TypeCode.boolean:
      return .integer(Int64(bitPattern: try word()))
    case TypeCode.real: return .real(Double(bitPattern: try word()))
    case TypeCode.text, TypeCode.date: return .text(try text())
    case TypeCode.null:
      _ = try word()
      return .null
    case TypeCode.blob:
      let count = Int(clamping: try word())
      guard count <= bytes.count - offset else { throw .malformedAnswer }
      defer { offset += padded(count) }
      return .blob(Array(bytes[offset..<(offset + count)]))
    default: throw .malformedAnswer
    }
  }

  private func padded(_ count: Int) -> Int { (count + wordSize - 1) / wordSize * wordSize }
}

extension DatabaseError {
  static var malformedAnswer: DatabaseError {
    .lostConnection("the node sent an invalid answer")
  }
}
