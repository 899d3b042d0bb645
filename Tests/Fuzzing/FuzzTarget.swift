/// A part of schemactl that reads untrusted bytes. It must terminate and satisfy its assertions.
package protocol FuzzTarget: Sendable {
  /// Its name in `make fuzz` and for the folder of its corpus.
  static var name: String { get }
  /// - Throws: `FailedAssertion`. An invalid input is not an error.
  static func take(_ bytes: [UInt8]) throws
}

package let fuzzTargets: [any FuzzTarget.Type] = [
  ManifestTarget.self, ConfigurationTarget.self, LockTarget.self, SQLTarget.self,
  DatabaseTarget.self,
]

/// An assertion that fails for this input.
package struct FailedAssertion: Error, CustomStringConvertible {
  package let description: String
}

func promise(_ holds: Bool, _ what: @autoclosure () -> String) throws {
  if !holds { throw FailedAssertion(description: what()) }
}
