/// Whether the bytes are valid UTF-8. (`String(validating:as:)` needs macOS 15 and iOS 18.)
package func isUTF8(_ bytes: some Collection<UInt8>) -> Bool {
  // Decoding repairs invalid bytes, so the result differs.
  var text = String(decoding: bytes, as: UTF8.self)
  return text.withUTF8 { text in
    bytes.withContiguousStorageIfAvailable(text.elementsEqual) ?? text.elementsEqual(bytes)
  }
}
