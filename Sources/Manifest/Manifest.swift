/// Manifests: the grammar, and the decoding of a tree of values into operations.
///
/// - ``decodeManifest(_:file:)``: decodes a tree into a ``Manifest``, or throws every problem of the file.
/// - ``Operation``: one entry of `operations`, with its positions.
/// - ``Grammar``: the keys and values of a manifest. The decoder, the JSON Schema and the reference use it.

import SchemaSQLText
import SchemaSQLite

/// One migration, as its YAML file describes it.
package struct Manifest: Sendable {
  /// The name of the file in diagnostics.
  package let file: String
  package let description: String?
  package private(set) var operations: [Operation]
  /// Assertions on the database before the first operation and after the last one.
  package let before: [Assertion]
  package let after: [Assertion]
  package let foreignKeys: ForeignKeyMode
  /// The oldest SQLite that can run the migration.
  package let requiredSQLite: SQLiteVersion?
  /// The entries in other tools' ledgers that count as this migration; the items are alternatives.
  package let replaces: [ReplacedEntries]
  /// The migrations of this history that a squash replaces; empty for other migrations.
  package let squashed: [String]
  package let suppressions: [Suppression]
  /// The bytes that the canonical digest covers (version 1, `docs/history.md`).
  package let canonicalForm: [UInt8]

  /// Whether the manifest is as empty as `new` writes it: no operations, assertions or replaced migrations.
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
  /// SQLite checks each statement: `PRAGMA foreign_keys = ON` while the migration runs.
  case enforced
}

/// A version of SQLite: `3.37` or `3.37.2`.
package struct SQLiteVersion: Sendable, Comparable, Equatable, CustomStringConvertible {
  /// The version in the form of `sqlite3_libversion_number`: 3.37.2 is 3037002.
  package let number: Int

  package init(number: Int) {
    self.number = number
  }

  /// Reads two or three numbers below 1,000 with dots between them; nil for any other text.
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

/// A finding of lint that the manifest allows, and the reason.
package struct Suppression: Sendable {
  package let rule: String
  package let reason: String
  /// The last day of the suppression in UTC, such as `2027-01-01`.
  package let until: String?
  package let position: Position

  package init(rule: String, reason: String, until: String?, position: Position) {
    self.rule = rule
    self.reason = reason
    self.until = until
    self.position = position
  }
}

/// A query that must return one row of one column with the given value. It runs only on real databases.
package struct Assertion: Sendable {
  package let query: SQLSource
  package let equals: Literal
  package let message: String?
  package let position: Position
}

/// A value in a manifest.
package enum Literal: Sendable, Hashable {
  case value(Value)
  /// `{ sql: "…" }`: an expression that SQLite evaluates.
  case sql(SQLSource)

  package static let null = Literal.value(.null)

  /// The value; nil for an expression.
  package var value: Value? {
    if case .value(let value) = self { value } else { nil }
  }
}
