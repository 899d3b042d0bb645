import SchemaYAML

/// How strictly lint judges: by what the database syncs with.
package enum Profile: String, Sendable, CaseIterable {
  /// Nothing syncs.
  case local
  /// Something may sync; the engine is not known.
  case additive
  case sqliteData = "sqlite-data"
  case crSQLite = "cr-sqlite"

  /// Its meaning, for a sentence.
  package var meaning: String {
    switch self {
    case .local: "nothing syncs"
    case .additive: "something may sync"
    case .sqliteData: "SQLiteData syncs it through CloudKit"
    case .crSQLite: "cr-sqlite syncs it"
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
