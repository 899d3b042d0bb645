import SchemaHistory
import SchemaImport
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension ImportReport: JSONConvertible {
  package var json: JSON {
    [
      "tool": imported.foreign.tool.rawValue, "migrations": imported.project.migrations.map(\.id),
      "applied": database?.count, "files": files, "release": release?.name,
      "baseline": release.flatMap { $0.findings == 0 ? nil : $0.baseline },
      "notes": imported.foreign.notes,
    ]
  }
}

extension ForeignNote: JSONConvertible {
  package var json: JSON {
    [
      "file": file, "line": position?.line, "column": position?.column, "kind": kind.rawValue,
      "message": message,
    ]
  }
}
