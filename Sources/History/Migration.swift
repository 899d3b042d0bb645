import SchemaManifest
import SchemaModel
import SchemaSQLText

/// One manifest of a folder.
package struct Migration: Sendable {
  /// The file name without `.yaml`.
  package let id: String
  package let number: MigrationNumber
  /// The path, beginning with the folder as it was named.
  package let file: String
  package let manifest: Manifest
  package let rawDigest: String
  package let canonicalDigest: String
  /// The file holds CR, which the raw digest passes over before LF.
  package let hasCarriageReturns: Bool

  /// - Parameter bytes: the file, from which `manifest` was decoded.
  package init(id: String, file: String, bytes: [UInt8], manifest: Manifest) {
    self.id = id
    number = MigrationNumber(id: id)
    self.file = file
    self.manifest = manifest
    rawDigest = SchemaHistory.rawDigest(of: bytes)
    canonicalDigest = SHA256.hex(manifest.canonicalForm)
    hasCarriageReturns = bytes.contains(carriageReturn)
  }

  /// - Parameter name: an id or a number.
  package func answers(to name: String) -> Bool {
    id == name || name.utf8.allSatisfy(\.isDigit) && MigrationNumber(id: name) == number
  }
}
