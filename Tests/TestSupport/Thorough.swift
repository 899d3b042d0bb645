import Foundation
import Testing

private let testsAll = ProcessInfo.processInfo.environment["SCHEMACTL_TEST_ALL"] != nil

extension Trait where Self == ConditionTrait {
  /// Marks tests that kill the program, make calls fail, or need large tables: `make test-all` runs
  /// them, `make test` does not.
  package static var thorough: Self {
    .enabled(if: testsAll, "`make test-all` runs it")
  }
}

/// Of the cases of a costly test, `make test` tries one in so many, `make test-all` all.
package func oneIn<Cases: Collection>(_ number: Int, of cases: Cases) -> [Cases.Element] {
  testsAll
    ? Array(cases) : cases.enumerated().filter { $0.offset % number == 0 }.map(\.element)
}

/// The seeds of a property's random cases: `make test` tries a few of them, `make test-all` all.
package func seeds(_ few: UInt64, of all: UInt64) -> Range<UInt64> { 0..<(testsAll ? all : few) }
