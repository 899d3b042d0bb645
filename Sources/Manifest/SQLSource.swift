import SchemaSQLText

/// SQL in a manifest, with the positions of its parts.
package struct SQLSource: Sendable, Hashable {
  package let text: String
  /// Where the text begins, after the opening quote of a quoted scalar; for a block scalar the position of its
  /// `|` or `>`.
  package let position: Position
  /// The column at which a literal block's lines begin, when the text is one: then the text's
  /// first line is the line after `position`. Nil for every other style.
  package let blockColumn: Int?
  /// Where the text continues in the file after a difference between both: a folded line break or an escape.
  private let origins: [Origin]
  /// The bytes at which lines begin: a script asks for the place of each of its statements.
  private let lineStarts: [Int]

  /// From the byte `offset` of the text, the text is in the file at `position`.
  struct Origin: Hashable {
    let offset: Int
    let position: Position
  }

  package init(text: String, position: Position, blockColumn: Int? = nil) {
    self.init(text: text, position: position, blockColumn: blockColumn, origins: [])
  }

  /// Another text of the same length in the same place.
  package func withText(_ text: String) -> SQLSource {
    SQLSource(text: text, position: position, blockColumn: blockColumn, origins: origins)
  }

  init(text: String, position: Position, blockColumn: Int?, origins: [Origin]) {
    self.text = text
    self.position = position
    self.blockColumn = blockColumn
    self.origins = origins
    lineStarts =
      [0] + text.utf8.enumerated().lazy.filter { $0.element == .lineFeed }.map { $0.offset + 1 }
  }

  /// The place in the file of a byte of `text`, exact for every style of scalar that was read from
  /// a file. For other texts: exact on the first line, and else the beginning.
  package func position(ofByte offset: Int) -> Position {
    let origin = origins.count(before: offset) { $0.offset }
    if origin > 0 {
      let origin = origins[origin - 1]
      let column = codePoints(in: origin.offset..<offset)
      return Position(line: origin.position.line, column: origin.position.column + column)
    }
    let line = lineStarts.count(before: offset) { $0 } - 1
    if let blockColumn {
      let column = codePoints(in: lineStarts[line]..<offset)
      return Position(line: position.line + 1 + line, column: blockColumn + column)
    }
    guard line == 0 else { return position }
    return Position(line: position.line, column: position.column + codePoints(in: 0..<offset))
  }

  private func codePoints(in bytes: Range<Int>) -> Int {
    text.utf8.dropFirst(bytes.lowerBound).prefix(bytes.count).count { !$0.isContinuation }
  }
}

extension Array {
  /// How many elements, sorted by `key`, are not behind `limit`.
  fileprivate func count(before limit: Int, key: (Element) -> Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if key(self[middle]) <= limit { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension SQLSource {
  init(_ scalar: Scalar, in source: SourceText) {
    let text = Array(scalar.text.utf8)
    let bytes = Array(source.bytes[scalar.range])
    switch scalar.style {
    case .literal:
      self.init(
        text: scalar.text, position: scalar.position,
        blockColumn: columnOfBlock(text, in: bytes), origins: [])
    case .folded:
      self.init(
        text: scalar.text, position: scalar.position, blockColumn: nil,
        origins: foldedOrigins(of: text, in: bytes, from: scalar.position))
    case .plain, .singleQuoted, .doubleQuoted:
      let quote = scalar.style == .plain ? 0 : 1
      let start = Position(
        line: scalar.position.line, column: scalar.position.column + quote)
      self.init(
        text: scalar.text, position: start, blockColumn: nil,
        origins: flowOrigins(
          of: text, in: Array(bytes.dropFirst(quote).dropLast(quote)), from: start, scalar.style))
    }
  }
}

/// The column of a block's lines: as far as the first line that is not blank is indented in the
/// file and not in the text.
private func columnOfBlock(_ text: [UInt8], in bytes: [UInt8]) -> Int {
  let body = bytes.drop { $0 != .lineFeed && $0 != .carriageReturn }
  return max(0, indentation(ofFirstLineIn: body) - indentation(ofFirstLineIn: text[...])) + 1
}

private func indentation(ofFirstLineIn bytes: ArraySlice<UInt8>) -> Int {
  var spaces = 0
  for byte in bytes {
    if byte.isLineBreak { spaces = 0 } else if byte == .space { spaces += 1 } else { return spaces }
  }
  return 0
}

/// The text contains each line of a folded block unchanged, after spaces or line feeds.
private func foldedOrigins(
  of text: [UInt8], in bytes: [UInt8], from start: Position
) -> [SQLSource.Origin] {
  let indentation = columnOfBlock(text, in: bytes) - 1
  var origins: [SQLSource.Origin] = []
  var offset = 0
  for (number, line) in lines(of: bytes).enumerated().dropFirst() {
    let content = line.dropFirst(min(indentation, line.prefix { $0 == .space }.count))
    guard !content.isEmpty else { continue }
    while offset < text.count, text[offset] == .space || text[offset] == .lineFeed,
      !text[offset...].starts(with: content)
    {
      offset += 1
    }
    origins.append(
      .init(
        offset: offset, position: Position(line: start.line + number, column: indentation + 1)))
    offset += content.count
  }
  return origins
}

private func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
  bytes.split(separator: .lineFeed, omittingEmptySubsequences: false).map {
    $0.last == .carriageReturn ? $0.dropLast() : $0
  }
}

/// Walks a plain or quoted scalar and its text side by side.
private func flowOrigins(
  of text: [UInt8], in bytes: [UInt8], from start: Position, _ style: Scalar.Style
) -> [SQLSource.Origin] {
  var origins: [SQLSource.Origin] = []
  var cursor = Cursor(position: start, offset: 0)
  var offset = 0
  func skip(_ count: Int) {
    for _ in 0..<count where cursor.offset < bytes.count { cursor.advance(in: bytes) }
  }
  func mark() { origins.append(.init(offset: offset, position: cursor.position)) }
  while cursor.offset < bytes.count, offset < text.count {
    let byte = bytes[cursor.offset]
    let rest = bytes[cursor.offset...]
    let space = rest.prefix(while: \.isWhiteSpace)
    if space.contains(where: \.isLineBreak) {
      skip(space.count)
      offset += lengthOfFold(lineBreaks(in: Array(space)), in: text[offset...])
      mark()
    } else if byte == UInt8(ascii: "'"), style == .singleQuoted {
      skip(2)
      offset += 1
      mark()
    } else if byte == UInt8(ascii: "\\"), style == .doubleQuoted, let kind = rest.dropFirst().first
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

/// A CR alone is one too.
private func lineBreaks(in space: [UInt8]) -> Int {
  space.indices.count { index in
    space[index] == .lineFeed
      || (space[index] == .carriageReturn
        && (index + 1 == space.count || space[index + 1] != .lineFeed))
  }
}

/// What `breaks` line breaks became: a space, or a line feed for each but the first.
private func lengthOfFold(_ breaks: Int, in text: ArraySlice<UInt8>) -> Int {
  breaks == 1
    ? (text.first == .space ? 1 : 0)
    : text.prefix(max(0, breaks - 1)).prefix { $0 == .lineFeed }.count
}

private func digitsOfEscape(_ kind: UInt8) -> Int {
  switch kind {
  case UInt8(ascii: "x"): 2
  case UInt8(ascii: "u"): 4
  case UInt8(ascii: "U"): 8
  default: 0
  }
}
