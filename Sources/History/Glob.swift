import SchemaSQLText
import SchemaSQLite

/// A pattern for whole names, as SQLite's GLOB reads it: `*` any characters, `?` one, `[a-z]` one of
/// these, `[^a-z]` one other.
///
/// ASCII letters match in either case, as names in SQLite do.
package struct Glob: Sendable, Equatable {
  private let pattern: String

  package init(_ pattern: String) {
    self.pattern = Self.folded(pattern)
  }

  package func matches(_ name: String) -> Bool { globMatches(pattern, Self.folded(name)) }

  private static func folded(_ text: String) -> String {
    String(decoding: Array(text.identifier.folded), as: UTF8.self)
  }
}
