import SchemaSQLText
import Testing

/// Every range in a value at any depth.
private func ranges(in value: Any) -> [Range<Int>] {
  if let range = value as? Range<Int> { return [range] }
  return Mirror(reflecting: value).children.flatMap { ranges(in: $0.value) }
}

private func names(in value: Any) -> [Name] {
  if let name = value as? Name { return [name] }
  return Mirror(reflecting: value).children.flatMap { names(in: $0.value) }
}

@Suite("The parser with invalid input")
struct ParserNoiseTests {
  private static let statements = [
    """
    CREATE TABLE IF NOT EXISTS main."t" (id INTEGER PRIMARY KEY AUTOINCREMENT, [b c] VARCHAR(10, 2)
    NOT NULL ON CONFLICT REPLACE DEFAULT (lower('x')) COLLATE nocase REFERENCES p(a) ON DELETE CASCADE
    DEFERRABLE INITIALLY DEFERRED, d AS (id + 1) STORED, CONSTRAINT u UNIQUE (d COLLATE x DESC)
    CHECK (d > 0), FOREIGN KEY (d) REFERENCES q (e, f) ON UPDATE SET NULL) STRICT, WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX i ON t (a DESC, lower(b) COLLATE nocase) WHERE a > 0",
    "CREATE VIEW v (a, b) AS SELECT a, b FROM t WHERE a IN (1, 2)",
    """
    CREATE TRIGGER tr AFTER UPDATE OF a ON t FOR EACH ROW WHEN new.a > 0 BEGIN
    UPDATE t SET a = 1; SELECT 2; END
    """,
    "CREATE VIRTUAL TABLE f USING fts5(a, b, tokenize = 'x y')",
  ]

  /// Whether the result is a statement or an error with ranges inside the text.
  private func check(_ bytes: [UInt8]) -> Bool {
    let sql = TokenizedSQL(bytes: bytes)
    do {
      let statement = try parseCreate(sql)
      for range in ranges(in: statement) {
        #expect(!range.isEmpty && range.upperBound <= bytes.count && range.lowerBound >= 0)
      }
      for name in names(in: statement) {
        #expect(name.text == Quoting.unquoted(sql.text(name.range)))
      }
      return true
    } catch {
      return false
    }
  }

  @Test("any bytes result in a statement or an error", arguments: 0..<10)
  func noise(seed: UInt64) {
    var source = Noise(seed: seed)
    for _ in 0..<300 {
      _ = check(source.bytes(upTo: 80))
      _ = check(Array("CREATE ".utf8) + source.soup())
      _ = check(Array("CREATE TABLE t (a ".utf8) + source.soup(upTo: 12) + Array(")".utf8))
    }
  }

  @Test("a damaged statement results in a statement or an error", arguments: 0..<10)
  func damage(seed: UInt64) throws {
    var source = Noise(seed: seed)
    var accepted = 0
    for _ in 0..<300 {
      var bytes = Array(try #require(Self.statements.randomElement(using: &source)).utf8)
      for _ in 0..<Int.random(in: 0...3, using: &source) {
        let start = Int.random(in: 0...bytes.count, using: &source)
        let end = min(bytes.count, start + Int.random(in: 0...8, using: &source))
        bytes.replaceSubrange(
          start..<end, with: Bool.random(using: &source) ? [] : source.soup(upTo: 2))
      }
      if check(bytes) { accepted += 1 }
    }
    #expect(accepted > 0 && accepted < 300)
  }

  @Test("a truncated statement is an error", arguments: statements)
  func truncation(statement: String) {
    let sql = TokenizedSQL(statement)
    #expect(check(sql.bytes))
    for token in sql.significant.dropFirst() {
      _ = check(Array(sql.bytes[..<token.range.lowerBound]))
    }
    let half = sql.significant[sql.significant.count / 3].range.lowerBound
    #expect(!check(Array(sql.bytes[..<half])))
  }

  @Test("deep nesting and long texts do not exhaust memory or the stack")
  func depth() {
    let open = String(repeating: "(", count: 100_000)
    let close = String(repeating: ")", count: 100_000)
    #expect(check(Array("CREATE TABLE t(a CHECK (\(open)1\(close)))".utf8)))
    #expect(check(Array("CREATE INDEX i ON t(\(open)a\(close))".utf8)))
    #expect(!check(Array("CREATE INDEX i ON t(\(open)a)".utf8)))
    #expect(!check(Array("CREATE TABLE \(open)".utf8)))
    let columns = (0..<5_000).map { "c\($0) INT NOT NULL" }.joined(separator: ", ")
    #expect(check(Array("CREATE TABLE t(\(columns))".utf8)))
    let quotes = String(repeating: "'", count: 100_001)
    #expect(!check(Array("CREATE TABLE t(a DEFAULT \(quotes))".utf8)))
  }
}
