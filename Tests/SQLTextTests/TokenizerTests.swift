import SchemaSQLText
import Testing

/// `kind:text`, one for each token.
private func shape(_ sql: TokenizedSQL) -> [String] {
  sql.tokens.map { "\($0.kind):\(sql.text($0))" }
}

@Suite("Tokenizer")
struct TokenizerTests {
  @Test(
    "a token has the same kind as in SQLite",
    arguments: [
      (" \t\n\u{0C}\r\u{0B}", Token.Kind.whitespace), ("\u{FEFF}", .whitespace),
      ("-- a 'b", .comment), ("--", .comment), ("/**/", .comment), ("/* a", .comment),
      ("/*/", .comment), ("/* ; */", .comment),
      ("a", .word), ("_a$1", .word), ("é", .word), ("SELECT", .word), ("x", .word), ("xa", .word),
      (#""a""b""#, .quotedIdentifier), ("`a``b`", .quotedIdentifier), ("[a\"']", .quotedIdentifier),
      (#""""#, .quotedIdentifier), ("[]", .quotedIdentifier),
      ("''", .string), ("'a''b'", .string), ("'a;\n--'", .string),
      ("x'00fF'", .blob), ("X''", .blob),
      ("0", .integer), ("0x1F", .integer), ("0X0", .integer), ("1_000", .integer),
      ("0x1_f", .integer), ("007", .integer),
      ("1e5", .real), ("1.", .real), (".5", .real), ("1.5E-10", .real), ("1_0.0_1e+1_0", .real),
      ("?", .parameter), ("?12", .parameter), (":a", .parameter), ("@a", .parameter),
      ("$a", .parameter), ("$a::b(c)", .parameter), ("#1", .parameter), ("$::a", .parameter),
      ("->", .punctuation), ("->>", .punctuation), ("||", .punctuation), ("<>", .punctuation),
      ("!=", .punctuation), ("==", .punctuation), ("<<", .punctuation), (">>", .punctuation),
      ("<=", .punctuation), (">=", .punctuation), (".", .punctuation), (";", .punctuation),
      ("'a", .illegal), ("\"a", .illegal), ("`a", .illegal), ("[a", .illegal), ("'a''", .illegal),
      ("x'0'", .illegal), ("x'0g'", .illegal), ("x'00", .illegal), ("123abc", .illegal),
      ("0x1g", .illegal), ("0xg", .illegal), ("1_", .illegal), ("1__0", .illegal),
      ("1_.0", .illegal), ("1e5_", .illegal), ("1.5a", .illegal),
      ("!", .illegal), ("\\", .illegal), ("^", .illegal), ("{", .illegal), ("$", .illegal),
      (":", .illegal), ("$a(b", .illegal), ("\u{0B}", .illegal), ("\0", .illegal),
      ("'a\0b'", .illegal), ("/*\0*/", .illegal), ("[\0]", .illegal), ("--\0", .illegal),
    ])
  func oneToken(text: String, kind: Token.Kind) {
    let sql = TokenizedSQL(text)
    #expect(sql.tokens == [Token(kind: kind, range: 0..<text.utf8.count)])
  }

  @Test(
    "a text is split into the same tokens as in SQLite",
    arguments: [
      ("", []),
      ("a.b", ["word:a", "punctuation:.", "word:b"]),
      ("1.5.5", ["real:1.5", "real:.5"]),
      ("a--b\nc", ["word:a", "comment:--b", "whitespace:\n", "word:c"]),
      ("a-b", ["word:a", "punctuation:-", "word:b"]),
      ("a- -b", ["word:a", "punctuation:-", "whitespace: ", "punctuation:-", "word:b"]),
      ("/*", ["punctuation:/", "punctuation:*"]),
      ("/*a*/b*/", ["comment:/*a*/", "word:b", "punctuation:*", "punctuation:/"]),
      ("x'0'1", ["illegal:x'0'", "integer:1"]),
      ("x'0", ["illegal:x'0"]),
      ("a'b'", ["word:a", "string:'b'"]),
      ("x 'b'", ["word:x", "whitespace: ", "string:'b'"]),
      ("'a'\"b\"", ["string:'a'", "quotedIdentifier:\"b\""]),
      ("->>>", ["punctuation:->>", "punctuation:>"]),
      ("<<=", ["punctuation:<<", "punctuation:="]),
      ("===", ["punctuation:==", "punctuation:="]),
      ("|||", ["punctuation:||", "punctuation:|"]),
      ("a:b", ["word:a", "parameter::b"]),
      ("$a(b c)", ["illegal:$a(b", "whitespace: ", "word:c", "punctuation:)"]),
      ("1e", ["illegal:1e"]), ("1e+", ["illegal:1e", "punctuation:+"]),
      ("[a]]", ["quotedIdentifier:[a]", "illegal:]"]),
      ("a\0b", ["word:a", "illegal:\0", "word:b"]),
      ("\u{FEFF}a", ["whitespace:\u{FEFF}", "word:a"]),
      ("a\u{FEFF}", ["word:a\u{FEFF}"]),
      (" \u{0B}\u{0B}", ["whitespace: \u{0B}\u{0B}"]),
    ])
  func sequence(text: String, tokens: [String]) {
    #expect(shape(TokenizedSQL(text)) == tokens)
  }

  @Test("the significant tokens are all except white space and comments")
  func significant() {
    let sql = TokenizedSQL("/*a*/ b -- c\n ; x'0'")
    #expect(sql.significant.map(sql.text) == ["b", ";", "x'0'"])
    #expect(sql.significant(in: 6..<15).map(sql.text) == ["b", ";"])
    #expect(sql.significant(in: 7..<15).map(sql.text) == [";"])
    #expect(sql.significant(in: 0..<0).isEmpty)
    #expect(sql.significant(in: 0..<sql.bytes.count) == sql.significant)
  }

  @Test("the tokens of any bytes cover them exactly", arguments: 0..<20)
  func tiling(seed: UInt64) {
    var source = Noise(seed: seed)
    for _ in 0..<500 {
      let bytes = Bool.random(using: &source) ? source.bytes() : source.soup()
      let sql = TokenizedSQL(bytes: bytes)
      var end = 0
      for token in sql.tokens {
        #expect(token.range.lowerBound == end && !token.range.isEmpty)
        end = token.range.upperBound
      }
      #expect(end == bytes.count)
    }
  }

  @Test("a token that is read alone is the same token", arguments: 0..<10)
  func alone(seed: UInt64) {
    var source = Noise(seed: seed)
    for _ in 0..<300 {
      let sql = TokenizedSQL(bytes: source.soup())
      for token in sql.tokens where token.kind != .illegal {
        let again = TokenizedSQL(bytes: Array(sql.bytes[token.range]))
        #expect(again.tokens.map(\.kind) == [token.kind], "\(sql.text(token))")
      }
    }
  }
}
