import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// An SQL file. CRLF becomes LF, except in strings and quoted names, whose bytes are values.
struct ForeignFile {
  /// The path, for messages.
  let path: String
  let sql: TokenizedSQL
  private let source: SQLSource

  /// - Throws: a failure (65) for bytes that are not UTF-8.
  init(_ path: String, bytes: [UInt8]) throws(Failure) {
    var text = withoutMark(bytes)
    if text.contains(.carriageReturn) {
      text = TokenizedSQL(bytes: text).tokens.flatMap { token in
        let isValue = token.kind == .string || token.kind == .quotedIdentifier
        return token.range.filter { index in
          isValue || text[index] != .carriageReturn || index + 1 == text.count
            || text[index + 1] != .lineFeed
        }.map { text[$0] }
      }
    }
    guard String(validating: text, as: UTF8.self) != nil, !text.contains(0) else {
      throw Failure(
        .invalidInput, "the file is not UTF-8: convert it first",
        place: Failure.Place(file: path))
    }
    self.path = path
    sql = TokenizedSQL(bytes: text)
    source = SQLSource(file: String(decoding: text, as: UTF8.self))
  }

  var whole: Range<Int> { 0..<sql.bytes.count }

  func position(_ offset: Int) -> Position { source.position(ofByte: offset) }

  /// Returns the range of the line that contains a byte, with its line feed.
  func line(of offset: Int) -> Range<Int> {
    let start = (sql.bytes[..<offset].lastIndex(of: .lineFeed) ?? -1) + 1
    let end = sql.bytes[offset...].firstIndex(of: .lineFeed).map { $0 + 1 } ?? sql.bytes.count
    return start..<end
  }

  /// The comments `-- …` that are alone on their line, without the dashes. Tools write their markers as such
  /// comments.
  var remarks: [(text: String, range: Range<Int>)] {
    sql.tokens.compactMap { token in
      guard token.kind == .comment, sql.bytes[token.range].starts(with: "--".utf8) else {
        return nil
      }
      let line = line(of: token.range.lowerBound)
      guard sql.bytes[line.lowerBound..<token.range.lowerBound].allSatisfy(\.isBlank) else {
        return nil
      }
      let text = sql.bytes[token.range].dropFirst(2)
      return (String(decoding: text, as: UTF8.self).trimmed, line)
    }
  }
}

extension SourceFiles {
  /// Whether an SQL file contains a comment that identifies a tool.
  func holdsRemark(_ isMark: (String) -> Bool) throws(Failure) -> Bool {
    for path in scripts {
      if try ForeignFile(shown(path), bytes: bytes(path)).remarks.contains(where: {
        isMark($0.text)
      }) {
        return true
      }
    }
    return false
  }
}

/// One statement of a file.
struct ForeignStatement {
  /// The tokens without white space and comments, with the `;` at the end.
  let words: [Token]

  var range: Range<Int> { words[0].range.lowerBound..<words[words.count - 1].range.upperBound }
}

extension ForeignFile {
  /// Returns the statements of a part of the file, divided as in the `sqlite3` shell: a trigger ends with
  /// `; END;`, and a line that begins with a dot, where a statement could begin, is a command of the shell.
  func statements(in range: Range<Int>) -> [ForeignStatement] {
    var statements: [ForeignStatement] = []
    var tokens = sql.significant(in: range)[...]
    while let first = tokens.first {
      let line = line(of: first.range.lowerBound)
      guard sql.bytes[first.range.lowerBound] == UInt8(ascii: "."),
        line.lowerBound == first.range.lowerBound
      else {
        let words = sql.popStatement(&tokens)
        if words.count > 1 || sql.text(words[0]) != ";" {
          statements.append(ForeignStatement(words: words))
        }
        continue
      }
      tokens = tokens.drop { $0.range.lowerBound < line.upperBound }
      statements.append(
        ForeignStatement(words: [
          Token(kind: .illegal, range: line.lowerBound..<min(line.upperBound, range.upperBound))
        ]))
    }
    return statements
  }

  /// Returns the words of a statement as identifiers, without quotes.
  func names(_ statement: ForeignStatement) -> [Identifier] {
    statement.words.map { word in
      switch word.kind {
      case .quotedIdentifier, .string: Quoting.unquoted(sql.text(word)).identifier
      default: sql.text(word).identifier
      }
    }
  }
}

extension String {
  /// The text without white space at either end.
  var trimmed: String {
    var bytes = Array(utf8)[...]
    while let first = bytes.first, first.isWhiteSpace { bytes.removeFirst() }
    while let last = bytes.last, last.isWhiteSpace { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
