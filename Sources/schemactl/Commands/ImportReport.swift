import SchemaHistory
import SchemaImport
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The result of `import`.
struct ImportReport {
  let imported: ImportedHistory
  /// The created files and directories, without the manifests.
  var files: [String] = []
  /// The database that was compared, and the number of migrations that it has run.
  var database: (path: String, count: Int)?
  /// The frozen release, its migrations and the number of findings in its baseline.
  var release: (name: String, migrations: Int, findings: Int, baseline: String)?
}

extension TextReporter {
  func show(_ report: ImportReport) {
    let imported = report.imported
    let migrations = imported.project.migrations
    for file in report.files { mention("Created `\(file.visible)`") }
    showNotes(report)
    if imported.areRenumbered {
      mention(
        imported.foreign.tool == .grdb
          ? "The migrations have new numbers: GRDB gives them names only."
          : "The migrations have new numbers: those of \(imported.foreign.tool.rawValue) are missing, "
            + "not unique or not in its order.")
    }
    if let (path, count) = report.database {
      let last = migrations[count - 1].id.visible
      let pending = migrations.count - count
      mention(
        "`\(path.visible)` has run the migrations up to `\(last)`"
          + (pending == 0 ? "" : ", and \(counted(pending, "migration")) would follow")
          + "; its schema matches the manifests.")
    }
    if let (name, count, findings, baseline) = report.release {
      let accepted =
        findings == 0
        ? "" : "; `\(baseline.visible)` accepts \(counted(findings, "finding")) in them"
      mention("\(counted(count, "migration")) frozen for release \(name.visible)\(accepted).")
    }
    if imported.foreign.tool == .plain {
      mention(
        "The manifests name no ledger. If a tool has run these files, import them again with `--tool`."
      )
    }
    let folder = imported.project.folder.path.visible
    let code = imported.foreign.notes.count { $0.kind == .code }
    if code > 0 {
      mention(
        "`import` skipped \(counted(code, "part")) in a programming language: see the notes. Rows "
          + "that such code changes differ from those of the other tool.")
    }
    let proof =
      imported.foreign.tool == .grdb
      ? "same schema as each database; their rows were not compared"
      : "same schema and rows as its SQL"
    let database = report.database.map { shellQuoted($0.path).visible } ?? "FILE"
    let source =
      imported.foreign.tool == .plain
      ? counted(migrations.count, "plain SQL file")
      : "\(counted(migrations.count, "migration")) of \(imported.foreign.tool.rawValue)"
    // `migrate` adopts a database by the ledger that the manifests name; without one, the user must run
    // `adopt`.
    let next = migrations.allSatisfy(\.manifest.replaces.isEmpty) ? "adopt" : "status"
    mention(
      "Imported \(source) into `\(folder)`: \(proof). Next: `schemactl \(next) --database \(database)`."
    )
  }

  /// Lists the parts of the source that the manifests do not contain. If there are many, parts with the same
  /// message share one line, except code, which somebody must rewrite as a migration.
  private func showNotes(_ report: ImportReport) {
    let notes = report.imported.foreign.notes
    guard notes.count > 20, volume != .verbose else {
      for note in notes { mention(line(note)) }
      return
    }
    var shown: Set<ExactText> = []
    for note in notes where note.kind == .code || shown.insert(note.message) {
      guard note.kind != .code else {
        mention(line(note))
        continue
      }
      let alike = notes.filter { $0.message == note.message }
      let more = alike.count == 1 ? "" : " (and \(alike.count - 1) more; `--verbose` lists them)"
      mention(line(note) + more)
    }
  }

  private func line(_ note: ForeignNote) -> String {
    let place = note.position.map { ":\($0.line):\($0.column)" } ?? ""
    return "\(note.file.visible)\(place): note: \(note.message.visible)"
  }
}

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
