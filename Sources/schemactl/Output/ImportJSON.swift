import SchemaHistory
import SchemaImport
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension ImportReport {
  var members: [(String, JSON)] {
    let migrations = imported.project.migrations
    return [
      ("tool", .string(imported.foreign.tool.rawValue)),
      ("migrations", .list(migrations.map(\.id))),
      ("applied", .number(database?.count)),
      ("files", .list(files)),
      ("release", .text(release?.name)),
      ("baseline", release.map { $0.findings == 0 ? .null : .string($0.baseline) } ?? .null),
      ("notes", .array(imported.foreign.notes.map(\.json))),
    ]
  }
}

extension ForeignNote {
  fileprivate var json: JSON {
    .object([
      ("file", .string(file)), ("line", .number(position?.line)),
      ("column", .number(position?.column)), ("kind", .string(kind.rawValue)),
      ("message", .string(message)),
    ])
  }
}
