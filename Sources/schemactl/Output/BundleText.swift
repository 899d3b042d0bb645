import SchemaAuthoring
import SchemaHistory
import SchemaSQLText

extension TextReporter {
  func show(_ text: String, _ file: String?, isStale: Bool) {
    guard let file else { return sayScript(text) }
    mention(
      isStale
        ? "\(file.visible) is not up to date: run `schemactl generate swift --output "
          + "\(shellQuoted(file).visible)` again."
        : "\(file.visible) is up to date.")
  }

  func show(_ report: BundleReport, _ file: String) {
    mention(
      "Wrote \(counted(report.migrations, "migration")) to \(file.visible)"
        + (report.drafts.isEmpty
          ? "."
          : ", including \(counted(report.drafts.count, "draft")). A release build refuses drafts.")
    )
  }
}
