import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// Applies corrections to drafts. Keeps them only if the whole history still replays, their findings
/// disappear and no new error appears.
package struct Fixer {
  private let judge: (Project) throws -> LintReport
  private let project: Project
  private let report: LintReport

  package struct Result: Sendable {
    /// The report on the current project.
    package let report: LintReport
    /// The files to write, with their contents.
    package let files: [(file: String, bytes: [UInt8])]
  }

  /// - Parameter judge: runs lint on a project.
  package static func fix(
    _ project: Project, judge: @escaping (Project) throws -> LintReport
  ) throws -> Result {
    try Fixer(judge: judge, project: project, report: try judge(project)).result()
  }

  private func result() throws -> Result {
    let findings = report.failure == nil ? candidates : []
    // Usually all corrections are improvements, and then one run of lint is enough.
    if let result = try result(of: findings) { return result }
    let good = try findings.filter { try result(of: [$0]) != nil }
    if let result = try result(of: good) { return result }
    return Result(report: with(report, []), files: [])
  }

  /// The findings in drafts with a correction.
  private var candidates: [Finding] {
    let drafts = Set(
      project.migrations.filter { migration in
        // The target of a link may be frozen under another name.
        !project.isFrozen(migration)
          && FileStatus(migration.file, followingLinks: false)?.isRegularFile != false
      }.map(\.id.exact))
    return report.findings.filter { finding in
      finding.correction != nil && !finding.isSuppressed && drafts.contains(finding.migration)
    }
  }

  private func with(_ report: LintReport, _ corrected: [Finding]) -> LintReport {
    var report = report
    report.fixes = corrected
    let count = candidates.count - corrected.count
    if count > 0 {
      report.notes.append(
        "`--fix` did not correct \(counted(count, "finding")): the correction would cause another "
          + "error, or the history cannot be replayed")
    }
    return report
  }

  /// The result of the corrections. Nil if they cannot be applied, if the history then fails, or if
  /// the report is not better.
  private func result(of findings: [Finding]) throws -> Result? {
    guard !findings.isEmpty, let migrations = corrected(findings) else { return nil }
    let next = Project(
      folder: project.folder, migrations: migrations, lock: project.lock,
      application: project.application, foreign: project.foreign)
    let report: LintReport
    do {
      report = try judge(next)
    } catch let failure as Failure where failure.status == .invalidInput {
      return nil
    }
    guard report.failure == nil, report.isBetter(than: self.report, without: findings) else {
      return nil
    }
    let changed = zip(migrations, project.migrations).filter { $0.bytes != $1.bytes }.map(\.0)
    return Result(report: with(report, findings), files: changed.map { ($0.file, $0.bytes) })
  }

  private func corrected(_ findings: [Finding]) -> [Migration]? {
    var migrations = project.migrations
    for (index, migration) in migrations.enumerated() {
      let corrections = findings.filter { $0.migration == migration.id }.compactMap(\.correction)
      guard !corrections.isEmpty else { continue }
      guard let text = ManifestText(migration.bytes, file: migration.file) else { return nil }
      var edits: [ManifestText.Edit] = []
      for correction in corrections {
        guard let own = correction.edits(text, migration.manifest) else { return nil }
        // Two corrections may make the same edit.
        edits += own.filter { !edits.contains($0) }
      }
      guard let new = text.applying(edits),
        let manifest = try? decodeManifest(new, file: migration.file)
      else { return nil }
      migrations[index] = Migration(
        id: migration.id, file: migration.file, bytes: new, manifest: manifest)
    }
    return migrations
  }
}

extension LintReport {
  /// Whether the given findings disappeared without a new error.
  fileprivate func isBetter(than old: LintReport, without gone: [Finding]) -> Bool {
    func counts(_ findings: [Finding]) -> [[ExactText]: Int] {
      Dictionary(
        findings.map { ([$0.rule, $0.migration, $0.object ?? ""].map(\.exact), 1) },
        uniquingKeysWith: +)
    }
    let (before, after) = (counts(old.findings), counts(findings))
    let errors = counts(findings.filter { $0.severity == .error && !$0.isSuppressed })
    return counts(gone).allSatisfy { after[$0] ?? 0 <= (before[$0] ?? 0) - $1 }
      && errors.allSatisfy { $1 <= before[$0] ?? 0 }
  }
}
