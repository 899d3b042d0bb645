import SchemaManifest
import SchemaYAML

/// `schemactl.yaml` is read, or refused at places that are in it.
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
