/// ASCII classes as SQLite uses them: without locale or Unicode.
extension UInt8 {
  package var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
  package var isDigit: Bool { (0x30...0x39).contains(self) }
  var isDigitOrSeparator: Bool { isDigit || self == 0x5F }
  package var isHexDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }
  package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
  /// SQLite treats every byte of a character beyond ASCII as a letter.
  var isIdentifierStart: Bool { isLetter || self == 0x5F || self >= 0x80 }
  var isIdentifier: Bool { isIdentifierStart || isDigit || self == 0x24 }

  package var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
  package var uppercased: UInt8 { (0x61...0x7A).contains(self) ? self & 0xDF : self }
}

/// Bytes in lower-case hexadecimal digits.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(
    decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Matches a byte with a character: `byte == "("`.
func ~= (pattern: Unicode.Scalar, byte: UInt8) -> Bool { byte == UInt8(ascii: pattern) }
func == (byte: UInt8, scalar: Unicode.Scalar) -> Bool { byte == UInt8(ascii: scalar) }
func != (byte: UInt8, scalar: Unicode.Scalar) -> Bool { byte != UInt8(ascii: scalar) }
