/// Something of schemactl that takes bytes from anybody: it must end, and keep its promises.
package protocol FuzzTarget: Sendable {
  /// What `make fuzz` and the folder of its corpus call it.
  static var name: String { get }
  /// - Throws: `BrokenPromise`. What is wrong with the input is no error.
  static func take(_ bytes: [UInt8]) throws
}

package let fuzzTargets: [any FuzzTarget.Type] = [
  ManifestTarget.self, ConfigurationTarget.self, LockTarget.self, SQLTarget.self,
  DatabaseTarget.self,
]

/// What must hold for every input, and does not for this one.
package struct BrokenPromise: Error, CustomStringConvertible {
  package let description: String
}

func promise(_ holds: Bool, _ what: @autoclosure () -> String) throws {
  if !holds { throw BrokenPromise(description: what()) }
}
