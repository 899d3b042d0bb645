import SchemaSQLText

/// SQL in a manifest, with the positions of its parts.
package struct SQLSource: Sendable, Hashable {
  package let text: String
  /// The start of the text: after the opening quote of a quoted scalar, or at the `|` or `>` of a block
  /// scalar.
  package let position: Position
  /// The points where the text continues in the file after a difference between both: a line break or an
  /// escape. Empty for a text that was not read from a file.
  private let origins: [Origin]

  /// The text from the byte `offset` on is at `position` in the file.
  private struct Origin: Hashable {
    let offset: Int
    let position: Position
  }

  /// A text that was not read from a file.
  package init(text: String, position: Position) {
    self.init(text, position, [])
  }

  /// The SQL of a whole file.
  package init(file text: String) {
    let start = Position(line: 1, column: 1)
    let bytes = Array(text.utf8)
    self.init(text, start, Self.origins(of: bytes, in: bytes, from: start, .plain))
  }

  init(_ scalar: Scalar, in source: SourceText) {
    let quote = [.singleQuoted, .doubleQuoted].contains(scalar.style) ? 1 : 0
    let start = Position(line: scalar.position.line, column: scalar.position.column + quote)
    let bytes = source.bytes[scalar.range].dropFirst(quote).dropLast(quote)
    self.init(
      scalar.text, start,
      Self.origins(of: Array(scalar.text.utf8), in: Array(bytes), from: start, scalar.style))
  }

  private init(_ text: String, _ position: Position, _ origins: [Origin]) {
    self.text = text
    self.position = position
    self.origins = origins
  }

  /// Another text of the same length at the same position.
  package func withText(_ text: String) -> SQLSource { SQLSource(text, position, origins) }

  /// The position of a byte of `text` in the file. It is exact for a text that was read from a file, whatever
  /// the style of the scalar. For other texts, it is exact on the first line; for later lines it is the start
  /// of the text.
  package func position(ofByte offset: Int) -> Position {
    let next = origins.partition { $0.offset > offset }
    let origin = next > 0 ? origins[next - 1] : Origin(offset: 0, position: position)
    let before = text.utf8.dropFirst(origin.offset).prefix(offset - origin.offset)
    guard !before.contains(.lineFeed) else { return origin.position }
    let column = origin.position.column + before.count { !$0.isContinuation }
    return Position(line: origin.position.line, column: column)
  }

  /// Reads a scalar in the file and its text in parallel.
  ///
  /// - Parameter bytes: the scalar in the file, without quotes.
  private static func origins(
    of text: [UInt8], in bytes: [UInt8], from start: Position, _ style: Scalar.Style
  ) -> [Origin] {
    var origins: [Origin] = []
    var cursor = Cursor(position: start, offset: 0)
    var offset = 0
    func skip(_ count: Int) {
      for _ in 0..<count where cursor.offset < bytes.count { cursor.advance(in: bytes) }
    }
    func mark() { origins.append(Origin(offset: offset, position: cursor.position)) }
    if style == .literal || style == .folded { skip(bytes.prefix { !$0.isLineBreak }.count) }
    while cursor.offset < bytes.count, offset < text.count {
      let rest = bytes[cursor.offset...]
      let space = rest.prefix(while: \.isWhiteSpace)
      if space.contains(where: \.isLineBreak) {
        skip(space.count)
        let kept = text[offset...].prefix(while: \.isWhiteSpace)
        // The next character may be an escape for white space. It does not belong to the line break.
        offset += style == .doubleQuoted && kept.first == .space ? 1 : kept.count
        mark()
      } else if rest.first == UInt8(ascii: "'"), style == .singleQuoted {
        skip(2)
        offset += 1
        mark()
      } else if rest.first == UInt8(ascii: "\\"), style == .doubleQuoted,
        let kind = rest.dropFirst().first
      {
        if kind.isLineBreak {
          skip(1 + rest.dropFirst().prefix(while: \.isWhiteSpace).count)
          offset += text[offset...].prefix { $0 == .lineFeed }.count
        } else {
          skip(2 + digitsOfEscape(kind))
          repeat { offset += 1 } while offset < text.count && text[offset].isContinuation
        }
        mark()
      } else {
        skip(1)
        offset += 1
      }
    }
    return origins
  }

  private static func digitsOfEscape(_ kind: UInt8) -> Int {
    switch kind {
    case UInt8(ascii: "x"): 2
    case UInt8(ascii: "u"): 4
    case UInt8(ascii: "U"): 8
    default: 0
    }
  }
}
