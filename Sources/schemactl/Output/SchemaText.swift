import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaYAML

extension TextReporter {
  func show(_ schema: Schema, _ form: SchemaForm) {
    switch form {
    case .sql:
      for object in schema.withoutShadowTables().objects {
        if let sql = object.sql { sayScript(shellScript(terminated(sql)) + "\n") }
      }
    case .operations: sayScript(manifestText(schema.operations))
    }
  }

  func show(_ changes: [SchemaChange], _ from: String, _ to: String) {
    guard !changes.isEmpty else {
      return mention("\(from.visible) and \(to.visible) have the same schema.")
    }
    for change in changes { say(change.sentence(from: from, to: to).visible) }
  }

  func show(_ report: AdoptReport, _ database: String) {
    mention("\(database.visible) stands at \(report.at.visible), and its ledger says so now.")
    mention(
      report.pending.isEmpty
        ? "Nothing is pending."
        : "Pending: \(report.pending.map(\.visible).joined(separator: ", ")).")
  }
}

extension SchemaChange {
  /// `column t.a is only in old.sql (a TEXT)`.
  fileprivate func sentence(from: String, to: String) -> String {
    switch change {
    case .missing: "\(subject) is only in \(from) (\(expected ?? ""))"
    case .unexpected: "\(subject) is only in \(to) (\(actual ?? ""))"
    case .changed:
      "\(subject) differs: \(expected ?? "nothing") in \(from), \(actual ?? "nothing") in \(to)"
    }
  }
}
