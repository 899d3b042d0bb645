import SchemaModel
import SchemaSQLText

/// The raw digest, version 1: SHA-256 of the bytes with CRLF read as LF.
package func rawDigest(of bytes: [UInt8]) -> String {
  SHA256.hex(readingCRLFAsLF(bytes))
}

/// Whether the text is a digest as locks and ledgers hold it: 64 lower-case hexadecimal digits.
package func isDigest(_ text: String) -> Bool {
  // Asked of every row of a ledger at every start.
  var text = text
  return text.withUTF8 { bytes in
    bytes.count == 64
      && bytes.allSatisfy { $0 &- UInt8(ascii: "0") < 10 || $0 &- UInt8(ascii: "a") < 6 }
  }
}

package let lineFeed = UInt8(ascii: "\n")
let carriageReturn = UInt8(ascii: "\r")

func readingCRLFAsLF(_ bytes: [UInt8]) -> [UInt8] {
  guard bytes.contains(carriageReturn) else { return bytes }
  var result: [UInt8] = []
  result.reserveCapacity(bytes.count)
  for (index, byte) in bytes.enumerated() {
    let endsLine = index + 1 < bytes.count && bytes[index + 1] == lineFeed
    if byte != carriageReturn || !endsLine { result.append(byte) }
  }
  return result
}
