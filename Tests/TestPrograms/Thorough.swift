import Foundation
import Testing

private let testsAll = ProcessInfo.processInfo.environment["SCHEMACTL_TEST_ALL"] != nil

extension Trait where Self == ConditionTrait {
  /// Marks tests that kill the program, make calls fail, or need large tables. `make test-all` runs
  /// them, `make test` does not.
  package static var thorough: Self {
    .enabled(if: testsAll, "`make test-all` runs it")
  }
}

/// Selects cases of a costly test: `make test` runs one in `number`, `make test-all` runs all.
package func oneIn<Cases: Collection>(_ number: Int, of cases: Cases) -> [Cases.Element] {
  testsAll
    ? Array(cases) : cases.enumerated().filter { $0.offset % number == 0 }.map(\.element)
}

/// The seeds of random cases of a property: `make test` runs a few, `make test-all` runs all.
package func seeds(_ few: UInt64, of all: UInt64) -> Range<UInt64> { 0..<(testsAll ? all : few) }
