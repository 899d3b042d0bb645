import SchemaSQLText
import Testing

@Suite("Quoting")
struct QuotingTests {
  @Test(
    "an identifier is bare only if every SQLite version reads it as that name",
    arguments: [
      ("a", "a"), ("_A1", "_A1"), ("rowid", "rowid"),
      ("", #""""#), ("1a", #""1a""#), ("a b", #""a b""#), ("a\"b", #""a""b""#), ("a$", #""a$""#),
      ("é", #""é""#), ("order", #""order""#), ("Key", #""Key""#), ("left", #""left""#),
      ("within", #""within""#), ("true", #""true""#),
    ])
  func identifier(name: String, written: String) {
    #expect(Quoting.identifier(name) == written)
  }

  @Test("quoted always quotes")
  func quoted() {
    #expect(Quoting.quoted("a") == #""a""#)
    #expect(Quoting.quoted(#"a"b"#) == #""a""b""#)
  }

  @Test("a string literal doubles its quotes, and is a cast blob if it contains a NUL")
  func stringLiteral() {
    #expect(Quoting.stringLiteral("it's") == "'it''s'")
    #expect(Quoting.stringLiteral("") == "''")
    #expect(Quoting.stringLiteral("a\0") == "CAST(x'6100' AS TEXT)")
  }

  @Test("a blob literal has two digits for each byte")
  func blobLiteral() {
    #expect(Quoting.blobLiteral([0, 0x0F, 0xA5, 0xFF]) == "x'000fa5ff'")
    #expect(Quoting.blobLiteral([]) == "x''")
  }

  @Test(
    "unquoting each style returns the name",
    arguments: [
      (#""a""b""#, #"a"b"#), ("`a``b`", "a`b"), ("'a''b'", "a'b"), ("[a\"b]", "a\"b"),
      ("[a[]", "a["), ("a", "a"), ("SELECT", "SELECT"), (#""""#, ""), (#""""""#, "\""), ("[]", ""),
      ("\"", "\""), ("", ""), ("\"'`", "\"'`"),
    ])
  func unquoted(text: String, name: String) {
    #expect(Quoting.unquoted(text) == name)
  }

  @Test("every notation of a name is unquoted", arguments: 0..<10)
  func roundTrip(seed: UInt64) {
    var source = Noise(seed: seed)
    for _ in 0..<300 {
      let bytes = (Bool.random(using: &source) ? source.bytes() : source.soup(upTo: 3))
        .filter { $0 != 0 }
      let name = String(decoding: bytes, as: UTF8.self)
      for written in [Quoting.quoted(name), Quoting.identifier(name), Quoting.stringLiteral(name)] {
        #expect(TokenizedSQL(written).tokens.count == 1)
        #expect(TokenizedSQL(written).tokens.first?.kind != .illegal)
        #expect(Array(Quoting.unquoted(written).utf8) == Array(name.utf8))
      }
    }
  }
}
