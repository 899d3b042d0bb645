import SchemaManifest
import SchemaYAML
import Testing

/// Each text marks words of its SQL with `@`. The position of the word in the SQL must match its
/// position in the file.
@Suite("Positions in SQL")
struct SQLSourceTests {
  @Test(
    "a byte of SQL has a position in the file, in any style of the scalar",
    arguments: [
      "- sql: SELECT @one, @two\n",
      "- sql:   'SELECT @one, @two'\n",
      "- sql: 'SELECT ''é'', @one, ''x'', @two'\n",
      "- sql: \"SELECT @one, \\\"a\\\", @two, '\\u00e9', @three\"\n",
      "- sql: \"größe🎈 @one\"\n",
      "- sql: &anchor SELECT @one\n",
      "- sql: &anchor # a comment\n    'SELECT @one'\n",
      "- sql: |\n    SELECT @one,\n      größe, @two\n\n    FROM @three\n",
      "- sql: |-\n\n\n    SELECT @one\n",
      "- sql: |2\n      SELECT @one\n      FROM @two\n",
      "- sql: | # comment\n          SELECT @one\n",
      "- sql: >\n    SELECT @one,\n    @two\n\n    FROM @three,\n      @four\n      @five\n    WHERE @six\n",
      "- sql: >-\n    SELECT\n\n\n    @one\n    größe @two",
      "- sql: SELECT @one,\n    @two\n\n    FROM @three\n",
      "- sql: 'SELECT @one,\n    @two\n\n\n    ''FROM'' @three'\n",
      "- sql: \"SELECT @one,\n    @two \\\n    é @three\\n @four\n\n    @five\"\n",
      "- sql: [SELECT @one, \"SELECT @two\"]\n",
    ])
  func everyStyle(yaml: String) throws {
    for lineEnd in ["\n", "\r\n"] {
      let text = "operations:\n" + yaml
      let file = text.replacing("\n", with: lineEnd)
      guard case .sql(let sources) = try decoded(file).operations.first?.kind else {
        return #expect(Bool(false))
      }
      var words = 0
      for source in sources {
        for (offset, byte) in source.text.utf8.enumerated() where byte == UInt8(ascii: "@") {
          let word = source.text.utf8.dropFirst(offset).prefix { isWord($0) }
          #expect(
            source.position(ofByte: offset) == place(of: String(Substring(word)), in: text),
            "\(String(Substring(word)))")
          words += 1
        }
      }
      #expect(words == text.utf8.count { $0 == UInt8(ascii: "@") })
    }
  }

  @Test("SQL begins after its quote, and a block at its indicator")
  func beginnings() throws {
    let yaml = "operations:\n  - sql: [a, 'b']\n  - sql: |\n      c\n  - sql: >\n      d\n"
    let sources = try decoded(yaml).operations.flatMap { operation in
      if case .sql(let sources) = operation.kind { sources } else { [SQLSource]() }
    }
    #expect(
      sources.map(\.position) == [
        Position(line: 2, column: 11), Position(line: 2, column: 15),
        Position(line: 3, column: 10), Position(line: 5, column: 10),
      ])
  }

  @Test("SQL that is not from a file is exact on its first line")
  func withoutFile() {
    let source = SQLSource(text: "SELECT\n1", position: Position(line: 3, column: 5))
    #expect(source.position(ofByte: 2) == Position(line: 3, column: 7))
    #expect(source.position(ofByte: 7) == Position(line: 3, column: 5))
  }

  private func isWord(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "@") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  private func place(of word: String, in text: String) -> Position? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      guard let range = line.firstRange(of: word) else { continue }
      return Position(
        line: number + 1, column: line[..<range.lowerBound].unicodeScalars.count + 1)
    }
    return nil
  }

  @Test("a single CR in a scalar is a line break, as in YAML")
  func loneCarriageReturn() throws {
    let yaml = "operations:\n- update: { table: t, set: { a: \"1\" }, where: a =\r   b AND c }\n"
    let manifest = try decodeManifest(Array(yaml.utf8), file: "m.yaml")
    guard case .update(_, _, let condition?) = manifest.operations.first?.kind else {
      return #expect(Bool(false), "no condition")
    }
    #expect(condition.text == "a = b AND c")
  }
}
