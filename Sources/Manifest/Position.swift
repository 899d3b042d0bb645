import SchemaSQLText

/// A position in a text file. Lines and columns count from 1; columns count Unicode code points, as editors
/// do.
package struct Position: Hashable, Sendable, Comparable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (a: Position, b: Position) -> Bool {
    (a.line, a.column) < (b.line, b.column)
  }
}

/// A problem in a file that a person wrote, with its position.
package struct Diagnostic: Error, Hashable, Sendable {
  package let file: String
  package let position: Position?
  /// The problem without the advice.
  package let statement: String
  /// The advice; nil if the problem includes it.
  package let help: String?

  /// - Parameter meant: the key, word or name that the author probably meant.
  package init(
    file: String, position: Position? = nil, message: String, meant: String? = nil
  ) {
    self.file = file
    self.position = position
    statement = message
    help = meant.map { "did you mean \(quoted($0))?" }
  }

  /// The problem and the advice, on one line.
  package var message: String { help.map { "\(statement): \($0)" } ?? statement }

  /// `file:line:column: error: message`, the form that editors and CI systems make clickable.
  package var description: String {
    let place = position.map { ":\($0.line):\($0.column)" } ?? ""
    return "\(file)\(place): error: \(message)"
  }
}

/// All problems that were found in the files.
package struct InvalidInput: Error, Sendable {
  package let diagnostics: [Diagnostic]

  package init(_ diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
  }
}

/// The bytes of a file. Converts the marks of libyaml, which count code points, to byte offsets.
package struct SourceText: Sendable {
  /// The bytes without a byte order mark.
  package let bytes: [UInt8]
  /// The byte offset of each code point. Empty for ASCII, where the offset equals the index.
  private let starts: [UInt32]

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    starts =
      bytes.allSatisfy { $0 < 0x80 }
      ? [] : bytes.indices.filter { !bytes[$0].isContinuation }.map(UInt32.init)
  }

  /// The byte offset of a code point; for an index after the last code point, the end of the file.
  package func offset(ofCodePoint index: Int) -> Int {
    if starts.isEmpty { return min(index, bytes.count) }
    return index < starts.count ? Int(starts[index]) : bytes.count
  }

  /// The position of a byte. CR, LF and CRLF end a line.
  package func position(ofByte offset: Int) -> Position {
    var cursor = Cursor(position: Position(line: 1, column: 1), offset: 0)
    while cursor.offset < min(offset, bytes.count) { cursor.advance(in: bytes) }
    return cursor.position
  }

  /// The byte offset of a position; nil outside the text.
  package func offset(of position: Position) -> Int? {
    var cursor = Cursor(position: Position(line: 1, column: 1), offset: 0)
    while cursor.position < position, cursor.offset < bytes.count { cursor.advance(in: bytes) }
    return cursor.position == position ? cursor.offset : nil
  }

  /// Whether a tab precedes the first character of a line.
  package func isIndentedWithTab(line: Int) -> Bool {
    var cursor = Cursor(position: Position(line: 1, column: 1), offset: 0)
    while cursor.offset < bytes.count, cursor.position.line < line { cursor.advance(in: bytes) }
    return bytes[cursor.offset...].prefix(while: \.isBlank).contains(UInt8(ascii: "\t"))
  }
}

/// The bytes of a file without a byte order mark.
package func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
  bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
}

/// A byte offset in a file, with its line and column.
package struct Cursor {
  package private(set) var position: Position
  package private(set) var offset: Int

  package init(position: Position, offset: Int) {
    self.position = position
    self.offset = offset
  }

  package mutating func advance(in bytes: [UInt8]) {
    let byte = bytes[offset]
    offset += 1
    let endsLine =
      byte == .lineFeed
      || byte == .carriageReturn && (offset == bytes.count || bytes[offset] != .lineFeed)
    if endsLine {
      position = Position(line: position.line + 1, column: 1)
    } else if offset < bytes.count, bytes[offset].isContinuation || byte == .carriageReturn {
      // The column does not change: more bytes of the code point follow, or the LF of a CRLF.
    } else {
      position = Position(line: position.line, column: position.column + 1)
    }
  }
}

extension UInt8 {
  package static let lineFeed = UInt8(ascii: "\n")
  package static let carriageReturn = UInt8(ascii: "\r")
  package static let space = UInt8(ascii: " ")

  /// Whether the byte belongs to a UTF-8 sequence but is not its first byte.
  package var isContinuation: Bool { self & 0xC0 == 0x80 }
  package var isLineBreak: Bool { self == .lineFeed || self == .carriageReturn }
  package var isBlank: Bool { self == .space || self == UInt8(ascii: "\t") }
  package var isWhiteSpace: Bool { isBlank || isLineBreak }
}

extension String {
  package var isBlank: Bool { utf8.allSatisfy(\.isWhiteSpace) }
}
