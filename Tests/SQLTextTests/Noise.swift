/// Random input that a seed reproduces.
struct Noise: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// SplitMix64, by Sebastiano Vigna, in the public domain.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func bytes(upTo limit: Int = 40) -> [UInt8] {
    (0..<Int.random(in: 0...limit, using: &self)).map { _ in
      .random(in: .min ... .max, using: &self)
    }
  }

  /// Random pieces of SQL, which reach rare branches far more often than random bytes.
  mutating func soup(upTo limit: Int = 30) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...limit, using: &self) {
      bytes += (Self.pieces.randomElement(using: &self) ?? "").utf8
      if Bool.random(using: &self) { bytes.append(UInt8(ascii: " ")) }
    }
    return bytes
  }

  static let pieces = [
    "CREATE", "TABLE", "TEMP", "IF", "NOT", "EXISTS", "t", "(", ")", ",", ";", ".", "a", "\"b c\"",
    "[d]", "`e`", "'f'", "INTEGER", "VARCHAR(10, 2)", "PRIMARY", "KEY", "ASC", "DESC", "ON",
    "CONFLICT", "REPLACE", "AUTOINCREMENT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
    "NOCASE", "REFERENCES", "DELETE", "UPDATE", "SET", "CASCADE", "MATCH", "DEFERRABLE",
    "INITIALLY", "DEFERRED", "GENERATED", "ALWAYS", "AS", "STORED", "CONSTRAINT", "FOREIGN",
    "WITHOUT", "ROWID", "STRICT", "INDEX", "VIEW", "TRIGGER", "VIRTUAL", "USING", "BEGIN", "END",
    "SELECT", "WHERE", "WHEN", "OF", "BEFORE", "INSTEAD", "FOR", "EACH", "ROW", "-- c\n", "/* c */",
    "/*", "--", "'", "\"", "[", "x'00'", "x'", "1", "1.5", ".5", "0x1F", "1_0", "1e5", "$a(", ":a",
    "?1", "+", "-", "->>", "||", "<>", "!=", "!", "\0", "\u{FEFF}", "é", "\u{0B}", "{", "\n",
  ]
}
