import SchemaCSQLite

/// An action code of `sqlite3_set_authorizer`.
package struct AuthorizerAction: RawRepresentable, Equatable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static let alterTable = AuthorizerAction(rawValue: SQLITE_ALTER_TABLE)
  package static let analyze = AuthorizerAction(rawValue: SQLITE_ANALYZE)
  package static let attach = AuthorizerAction(rawValue: SQLITE_ATTACH)
  package static let createIndex = AuthorizerAction(rawValue: SQLITE_CREATE_INDEX)
  package static let createTable = AuthorizerAction(rawValue: SQLITE_CREATE_TABLE)
  package static let delete = AuthorizerAction(rawValue: SQLITE_DELETE)
  package static let detach = AuthorizerAction(rawValue: SQLITE_DETACH)
  package static let dropIndex = AuthorizerAction(rawValue: SQLITE_DROP_INDEX)
  package static let dropTable = AuthorizerAction(rawValue: SQLITE_DROP_TABLE)
  package static let dropTrigger = AuthorizerAction(rawValue: SQLITE_DROP_TRIGGER)
  package static let dropVirtualTable = AuthorizerAction(rawValue: SQLITE_DROP_VTABLE)
  package static let function = AuthorizerAction(rawValue: SQLITE_FUNCTION)
  package static let insert = AuthorizerAction(rawValue: SQLITE_INSERT)
  package static let pragma = AuthorizerAction(rawValue: SQLITE_PRAGMA)
  package static let read = AuthorizerAction(rawValue: SQLITE_READ)
  package static let reindex = AuthorizerAction(rawValue: SQLITE_REINDEX)
  package static let savepoint = AuthorizerAction(rawValue: SQLITE_SAVEPOINT)
  package static let transaction = AuthorizerAction(rawValue: SQLITE_TRANSACTION)
  package static let update = AuthorizerAction(rawValue: SQLITE_UPDATE)
}

/// An action of a statement, as SQLite reports it during compilation.
///
/// The contents of `first` and `second` depend on the action (Authorizer Action Codes): for READ
/// and UPDATE the table and the column, for ALTER TABLE the database and the table.
package struct AuthorizerEvent: Sendable, Equatable {
  package let action: AuthorizerAction
  package let first: String?
  package let second: String?
  /// `main`, `temp` or the name of an attached database.
  package let database: String?
  /// The innermost trigger or view that causes the action; nil for the statement itself.
  package let trigger: String?

  init(
    action: AuthorizerAction, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
    database: UnsafePointer<CChar>?, trigger: UnsafePointer<CChar>?
  ) {
    self.action = action
    self.first = first.map { String(cString: $0) }
    self.second = second.map { String(cString: $0) }
    self.database = database.map { String(cString: $0) }
    self.trigger = trigger.map { String(cString: $0) }
  }
}

package enum AuthorizerDecision: Sendable {
  case allow
  /// Refuses the statement with `SQLITE_AUTH`.
  case deny
  /// Skips the action: a PRAGMA has no effect, a column reads as NULL.
  case ignore

  var code: Int32 {
    switch self {
    case .allow: SQLITE_OK
    case .deny: SQLITE_DENY
    case .ignore: SQLITE_IGNORE
    }
  }
}

final class AuthorizerBox {
  let decide: (AuthorizerEvent) -> AuthorizerDecision

  init(_ decide: @escaping (AuthorizerEvent) -> AuthorizerDecision) {
    self.decide = decide
  }
}
