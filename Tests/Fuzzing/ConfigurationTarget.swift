import SchemaManifest
import SchemaYAML

/// `schemactl.yaml` is decoded, or refused at valid positions.
enum ConfigurationTarget: FuzzTarget {
  static let name = "configuration"

  static func take(_ bytes: [UInt8]) throws {
    do {
      let configuration = try decodeConfiguration(bytes, file: "schemactl.yaml")
      try promise(
        (0...Configuration.maximumTimeout).contains(configuration.timeout),
        "a timeout of \(configuration.timeout) seconds")
    } catch let error as InvalidInput {
      try requirePlaces(error.diagnostics, in: bytes)
    }
  }
}
