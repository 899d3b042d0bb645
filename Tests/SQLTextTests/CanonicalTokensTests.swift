import SchemaSQLText
import Testing

private func strings(_ tokens: [[UInt8]]) -> [String] {
  tokens.map { String(decoding: $0, as: UTF8.self) }
}

@Suite("Token lists")
struct CanonicalTokensTests {
  @Test("canonical tokens fold the reserved words and nothing else")
  func canonical() {
    let sql = TokenizedSQL(#"select Key, "Select", 'x' /* c */ from [From] Where a != 1E5 -- d"#)
    #expect(
      strings(sql.canonicalTokens) == [
        "SELECT", "Key", ",", #""Select""#, ",", "'x'", "FROM", "[From]", "WHERE", "a", "!=", "1E5",
      ])
  }

  @Test(
    "texts with the same meaning have the same normal tokens",
    arguments: [
      ("SELECT a FROM T", "select [A]\nfrom `t` ;"),
      (#""key""#, "KEY"), ("é", "\"é\""), ("a$b", "\"A$B\""),
      ("a == 1 AND b != 2", "A = 1 and B<>2"),
      ("X'AB' 1E5 0XFF", "x'ab' 1e5 0xff"),
      ("a /* b */", "a"), ("a;;", "a"), (#""a""b""#, "`a\"b`"), ("[a b]", #""A B""#),
    ])
  func normalEqual(one: String, other: String) {
    #expect(TokenizedSQL(one).normalTokens == TokenizedSQL(other).normalTokens)
  }

  @Test(
    "texts with possibly different meanings have different normal tokens",
    arguments: [
      ("'a'", #""a""#), ("'a'", "a"), ("'A'", "'a'"), ("1", #""1""#), ("x'00'", #""x'00'""#),
      ("NULL", #""null""#), ("true", #""true""#), ("CURRENT_TIME", #""current_time""#),
      ("left", "[left]"), (#""a b""#, "a b"), ("É", "é"), ("e\u{301}", "é"), (#""'a'""#, "'a'"),
      ("?1", #""?1""#), ("a", "a;b"), (#""<>""#, "<>"), ("$A", "$a"),
    ])
  func normalDifferent(one: String, other: String) {
    #expect(TokenizedSQL(one).normalTokens != TokenizedSQL(other).normalTokens)
  }

  @Test("normal tokens of a range are those inside it")
  func normalRange() {
    let sql = TokenizedSQL("CHECK (A == 1)")
    #expect(strings(sql.normalTokens(in: 7..<13)) == ["a", "=", "1"])
  }

  @Test("comments and white space do not change token lists", arguments: 0..<10)
  func stretching(seed: UInt64) {
    var source = Noise(seed: seed)
    for _ in 0..<100 {
      let sql = TokenizedSQL(bytes: source.soup())
      let stretched = TokenizedSQL(
        bytes: Array(" /* ' */ ".utf8)
          + sql.significant.flatMap { sql.bytes[$0.range] + Array("\n-- \"\n".utf8) })
      // An unterminated token extends to the end and would include inserted text.
      guard !sql.tokens.contains(where: { $0.kind == .illegal }) else { continue }
      #expect(stretched.canonicalTokens == sql.canonicalTokens)
      #expect(stretched.normalTokens == sql.normalTokens)
    }
  }

  @Test("the encoding consists of length, colon and bytes of each token")
  func encoding() {
    let tokens = TokenizedSQL("a, 'b:c' é").canonicalTokens
    #expect(String(decoding: encodedTokens(tokens), as: UTF8.self) == "1:a1:,5:'b:c'2:é")
    #expect(encodedTokens([]).isEmpty)
    #expect(encodedTokens([[], Array("0:".utf8)]) == Array("0:2:0:".utf8))
  }
}
