import Foundation
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport

/// Scenes in which the program adopts databases without a ledger.
struct AdoptionScenes {
  private static let database = "app.sqlite"
  private static let baseline = "migrations/0001_baseline.yaml"

  private let folder: String

  /// - Parameter folder: the folder for templates.
  init(in folder: String) {
    self.folder = folder
  }

  func all() throws -> [Scene] {
    let adopt = ["adopt", "--database", Self.database]
    return try [
      scene("adopt", adopt, next: adopt, keepsHistory: true),
      scene("init", ["init", "--from", Self.database], next: adopt, keepsHistory: false),
    ]
  }

  /// - Parameter next: the command that continues after an interruption.
  private func scene(
    _ name: String, _ words: [String], next: [String], keepsHistory: Bool
  ) throws -> Scene {
    let template = "\(folder)/\(name)"
    try makeTemplate(template, keepsHistory)
    let done = template + " done"
    try FileManager.default.copyItem(atPath: template, toPath: done)
    let ended = try schemactl(words, in: done)
    guard ended.code == 0 else { throw Unprepared(reason: ended.errors) }
    var boundaries = try Boundaries(in: template + " boundaries")
    for folder in [template, done] { try boundaries.add("\(folder)/\(Self.database)") }
    let baseline = FileManager.default.contents(atPath: "\(done)/\(Self.baseline)")
    return Scene(name: name, words: words, template: template) { folder, ended in
      let path = "\(folder)/\(Self.database)"
      let found = try boundaries.index(of: Connection(path: path, mode: .readWrite))
      guard let found else { return "the database is neither as it was nor adopted" }
      let manifest = FileManager.default.contents(atPath: "\(folder)/\(Self.baseline)")
      guard manifest == nil || manifest == baseline else { return "half a baseline" }
      let isWritten = keepsHistory || manifest != nil
      guard found == 0 || isWritten else { return "it is adopted into no history" }
      guard ended.code != 0 || found == 1 else { return "it said what it has not done" }
      if found == 0 {
        let again = try schemactl(isWritten ? next : words, in: folder)
        guard again.code == 0 else { return "it does not go on: \(again.errors)" }
      }
      let verified = try schemactl(["verify", "--database", Self.database], in: folder)
      guard verified.code == 0 else { return "it does not end well: \(verified.errors)" }
      let strangers = try Scene.strangers(in: folder) { name in
        ["migrations", Self.database, "schemactl.yaml", ".schemactl.schema.json"].contains(name)
          || name.hasPrefix(Self.database + "-")
      }
      return strangers.isEmpty ? nil : "nobody knows what \(strangers) are"
    }
  }

  private func makeTemplate(_ template: String, _ keepsHistory: Bool) throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO tags (id, title) VALUES ('t1', 'home'), ('t2', 'work');
      DROP TABLE schemactl_migrations;
      """)
    try FileManager.default.createDirectory(atPath: template, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: sandbox.database, toPath: "\(template)/\(Self.database)")
    guard keepsHistory else { return }
    try FileManager.default.copyItem(
      atPath: sandbox.folder + "/migrations", toPath: template + "/migrations")
  }
}
