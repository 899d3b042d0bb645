import SchemaHistory
import SchemaManifest
import SchemaYAML

/// A manifest is decoded, or refused at valid positions.
enum ManifestTarget: FuzzTarget {
  static let name = "manifest"

  static func take(_ bytes: [UInt8]) throws {
    do {
      let manifest = try decodeManifest(bytes, file: "0001_fuzz.yaml")
      let migration = Migration(
        id: "0001_fuzz", file: "0001_fuzz.yaml", bytes: bytes, manifest: manifest)
      let again = try decodeManifest(bytes, file: "0001_fuzz.yaml")
      try promise(
        again.canonicalForm == manifest.canonicalForm && migration.canonicalDigest.count == 64,
        "read twice, it is not the same manifest")
    } catch let error as InvalidInput {
      try requirePlaces(error.diagnostics, in: bytes)
    }
  }
}

/// Diagnostics must have a message and an existing line.
func requirePlaces(_ diagnostics: [Diagnostic], in bytes: [UInt8]) throws {
  try promise(!diagnostics.isEmpty, "refused without a reason")
  // libyaml also ends a line at U+0085, U+2028 and U+2029.
  let lines = 1 + bytes.count { [0x0A, 0x0D, 0x85, 0xA8, 0xA9].contains($0) }
  for diagnostic in diagnostics {
    try promise(!diagnostic.message.isEmpty, "a problem without words")
    guard let position = diagnostic.position else { continue }
    try promise(
      (1...lines).contains(position.line) && (1...bytes.count + 1).contains(position.column),
      "\(diagnostic.description): the file has \(lines) lines")
  }
}
