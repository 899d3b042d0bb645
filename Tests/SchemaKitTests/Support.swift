import Foundation
import SchemaAuthoring
import SchemaKitYAML
import SchemaSQLite
import SchemaTestSupport
import Testing

extension Sandbox {
  /// The bundle of an app with this history.
  func bundle(frozenOnly: Bool = false) throws -> [UInt8] {
    try project().bundled(frozenOnly: frozenOnly).bytes
  }

  func migrator(
    functions: [AppFunction] = [], drafts: SchemaMigrator.Drafts = .allowed
  ) throws -> SchemaMigrator {
    try SchemaMigrator(bundle: bundle(), functions: functions, drafts: drafts)
  }

  /// Two frozen migrations of release 1.0, and a draft.
  static func ofNotes() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    try sandbox.addSQL("0002_color", "ALTER TABLE notes ADD COLUMN color TEXT")
    try sandbox.freeze()
    try sandbox.addSQL("0003_tags", "CREATE TABLE tags (name TEXT)")
    return sandbox
  }
}
