import SchemaManifest
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
    switch self {
    case .local, .additive: []
    case .sqliteData: SyncEngine.sqliteData.functions
    case .crSQLite: SyncEngine.crSQLite.functions
    }
  }

  package init(_ engine: SyncEngine) {
    self =
      switch engine {
      case .none: .local
      case .additive: .additive
      case .sqliteData: .sqliteData
      case .crSQLite: .crSQLite
      }
  }
}
