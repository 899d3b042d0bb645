import SchemaSQLText
import SchemaSQLite

extension AuthorizerAction {
  /// `SQLITE_CREATE_TEMP_TABLE`.
  package static let createTemporaryTable = AuthorizerAction(rawValue: 4)
  /// `SQLITE_CREATE_TEMP_TRIGGER` and `SQLITE_CREATE_TEMP_VIEW`.
  fileprivate static let createTemporaryTrigger = AuthorizerAction(rawValue: 5)
  fileprivate static let createTemporaryView = AuthorizerAction(rawValue: 6)
}

extension AuthorizerEvent {
  /// Whether the statement itself, or a foreign key action, writes rows of a table that is not
  /// temporary.
  var writesRows: Bool {
    [.insert, .update, .delete].contains(action) && trigger == nil && database != "temp"
      && first.map { !$0.identifier.isInternal } ?? false
  }

  var isTemporaryCreation: Bool {
    [.createTemporaryTable, .createTemporaryTrigger, .createTemporaryView].contains(action)
  }
}
