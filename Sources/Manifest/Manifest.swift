/// Manifests: the grammar, and the decoding of a tree of values into operations.
///
/// - ``decodeManifest(_:file:)``: a tree becomes a ``Manifest``, or every problem of the file.
/// - ``Operation``: one entry of `operations`, with its positions.
/// - ``Grammar``: what a manifest may say; it gives the decoder, the JSON Schema and the reference.

import SchemaSQLText
import SchemaSQLite

/// One migration, as its YAML file states it.
package struct Manifest: Sendable {
  /// The file as diagnostics name it.
  package let file: String
  package let description: String?
  package private(set) var operations: [Operation]
  /// Assertions on the database before the first operation and after the last one.
  package let before: [Assertion]
  package let after: [Assertion]
  package let foreignKeys: ForeignKeyMode
  package let requires: Requirements
  /// Where another tool has made this change; the items are alternatives.
  package let replaces: [ReplacedEntries]
  /// The migrations of this history that this one replaces; empty for all but a squash.
  package let squashed: [String]
  package let suppressions: [Suppression]
  /// The bytes that the canonical digest covers (version 1, `docs/history.md`).
  package let canonicalForm: [UInt8]

  /// Whether the manifest states nothing yet, as `new` writes it.
  package var isEmpty: Bool {
    operations.isEmpty && before.isEmpty && after.isEmpty && replaces.isEmpty && squashed.isEmpty
  }

  /// The manifest with other operations, for a private run.
  package func with(operations: [Operation]) -> Manifest {
    var manifest = self
    manifest.operations = operations
    return manifest
  }
}

package enum ForeignKeyMode: String, Sendable, CaseIterable {
  /// Checked once, after the migration's last operation.
  case deferred
  /// `PRAGMA foreign_keys = ON` while the migration runs.
  case enforced
}

package struct Requirements: Sendable {
  /// The oldest SQLite that can run the migration.
  package let sqlite: SQLiteVersion?
}

/// A version of SQLite: `3.37` or `3.37.2`.
package struct SQLiteVersion: Sendable, Comparable, Equatable, CustomStringConvertible {
  /// As `sqlite3_libversion_number` counts: 3.37.2 is 3037002.
  package let number: Int

  package init(number: Int) {
    self.number = number
  }

  /// Two or three numbers below 1,000 with a dot between them; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      .map { $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil }
    guard parts.count == 2 || parts.count == 3 else { return nil }
    var number = 0
    for index in 0..<3 {
      let part = index < parts.count ? parts[index] : 0
      guard let part, (0..<1000).contains(part) else { return nil }
      number = number * 1000 + part
    }
    self.number = number
  }

  package var description: String {
    let patch = number % 1000
    return "\(number / 1_000_000).\(number / 1000 % 1000)" + (patch == 0 ? "" : ".\(patch)")
  }

  package static func < (a: SQLiteVersion, b: SQLiteVersion) -> Bool { a.number < b.number }
}

/// A finding of lint that the manifest's author allows, and why.
package struct Suppression: Sendable {
  package let rule: String
  package let reason: String
  /// The last day, `2027-01-01`, in UTC.
  package let until: String?
  package let position: Position

  package init(rule: String, reason: String, until: String?, position: Position) {
    self.rule = rule
    self.reason = reason
    self.until = until
    self.position = position
  }
}

/// A query that must give one row of one column that equals a value. Runs on real databases only.
package struct Assertion: Sendable {
  package let query: SQLSource
  package let equals: Literal
  package let message: String?
  package let position: Position
}

/// A value as a manifest writes it.
package enum Literal: Sendable, Hashable {
  case value(Value)
  /// `{ sql: "…" }`: an expression that SQLite evaluates.
  case sql(SQLSource)

  package static let null = Literal.value(.null)

  /// Nil for an expression.
  package var value: Value? {
    if case .value(let value) = self { value } else { nil }
  }
}
