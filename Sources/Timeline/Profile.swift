import SchemaManifest
import SchemaSQLText
import SchemaYAML

/// The strictness of lint, determined by the engine that syncs the database.
package enum Profile: String, Sendable, CaseIterable {
  /// Nothing syncs.
  case local
  /// Something may sync; the engine is unknown.
  case additive
  case sqliteData = "sqlite-data"
  case crSQLite = "cr-sqlite"

  /// Describes the profile in a sentence.
  package var meaning: String {
    switch self {
    case .local: "nothing syncs"
    case .additive: "something may sync"
    case .sqliteData: "SQLiteData syncs it through CloudKit"
    case .crSQLite: "cr-sqlite syncs it"
    }
  }

  /// The functions that the engine registers.
  package var functions: [DeclaredFunction] {
    SyncEngine(rawValue: rawValue)?.functions ?? []
  }

  /// The harm that removing a name does to devices with an older version of the app.
  package func harm(ofLosing name: String) -> String {
    self == .local
      ? "an older version of the app fails"
      : "devices with an older version write `\(name)`, and other devices refuse their rows"
  }

  package init(_ engine: SyncEngine) {
    self = Profile(rawValue: engine.rawValue) ?? .local
  }
}
