/// Whether bytes are UTF-8. (`String(validating:as:)` needs macOS 15 and iOS 18.)
package func isUTF8(_ bytes: some Collection<UInt8>) -> Bool {
  // What is not is repaired, and then no longer the same.
  String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
}
