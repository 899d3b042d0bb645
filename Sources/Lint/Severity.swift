import SchemaTimeline

package enum Severity: String, Sendable, CaseIterable {
  case error, warning, note, off
}

/// A rule's severity under each profile.
struct Severities: Sendable {
  let local: Severity
  let additive: Severity
  let sqliteData: Severity
  let crSQLite: Severity

  init(_ local: Severity, _ additive: Severity, _ engine: Severity, crSQLite: Severity? = nil) {
    self.local = local
    self.additive = additive
    sqliteData = engine
    self.crSQLite = crSQLite ?? engine
  }

  static let alwaysError = Severities(.error, .error, .error)
  /// Off unless `lint.rules` of the configuration sets a severity.
  static let optIn = Severities(.off, .off, .off)

  subscript(profile: Profile) -> Severity {
    switch profile {
    case .local: local
    case .additive: additive
    case .sqliteData: sqliteData
    case .crSQLite: crSQLite
    }
  }
}
