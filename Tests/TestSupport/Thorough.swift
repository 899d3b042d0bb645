import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Marks tests that kill the program, make calls fail, or need large tables: `make test-all` runs
  /// them, `make test` does not.
  package static var thorough: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["SCHEMACTL_TEST_ALL"] != nil,
      "`make test-all` runs it")
  }
}
