import SchemaHistory
import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// A change that `lint --fix` made in a draft.
package struct Fix: Sendable, Hashable {
  package let rule: String
  package let migration: String
  package let file: String
  /// The line of the finding.
  package let line: Int
  package let column: Int
  package let message: String
}

/// Applies corrections to drafts. Keeps a correction only if the whole history still replays, the
/// finding disappears and no new error appears, except for values that only the author can name.
package struct Fixer {
  private let judge: (Project) throws -> LintReport
  private var project: Project
  private var report: LintReport
  /// The drafts' manifest files, by id.
  private var texts: [ExactText: [UInt8]]
  private var fixes: [Fix] = []
  /// Findings whose correction was not an improvement.
  private var rejected: Set<[ExactText]> = []

  package struct Result: Sendable {
    /// The report on the current project.
    package let report: LintReport
    /// The files to write, with their contents.
    package let files: [(file: String, bytes: [UInt8])]
  }

  /// - Parameters:
  ///   - texts: the manifest files of the drafts, by id.
  ///   - judge: runs lint on a project.
  package static func fix(
    _ project: Project, _ texts: [ExactText: [UInt8]],
    judge: @escaping (Project) throws -> LintReport
  ) throws -> Result {
    var fixer = Fixer(judge: judge, project: project, report: try judge(project), texts: texts)
    if fixer.report.failure == nil { try fixer.run() }
    fixer.report.fixes = fixer.fixes
    let files = project.migrations.compactMap { migration in
      fixer.texts[migration.id].flatMap { bytes in
        bytes == texts[migration.id] ? nil : (migration.file, bytes)
      }
    }
    return Result(report: fixer.report, files: files)
  }

  private mutating func run() throws {
    // Each successful round reduces the number of findings. The limit guards against corrections
    // that undo each other.
    for _ in 0..<100 {
      let findings = candidates
      guard !findings.isEmpty else { return }
      // Usually all corrections are improvements, and then one run of lint is enough.
      if try apply(findings) { continue }
      for finding in findings {
        // A successful correction changes the places of the other findings.
        if findings.count > 1, try apply([finding]) { break }
        rejected.insert(finding.key)
      }
    }
  }

  /// The findings with a correction that was not rejected.
  private var candidates: [Finding] {
    report.findings.filter { finding in
      finding.correction != nil && !finding.isSuppressed && texts[finding.migration] != nil
        && !rejected.contains(finding.key)
    }
  }

  /// Returns whether the corrections were an improvement; otherwise the state is unchanged.
  private mutating func apply(_ findings: [Finding]) throws -> Bool {
    guard let (migrations, texts) = corrected(findings) else { return false }
    let next = Project(
      folder: project.folder, migrations: migrations, lock: project.lock,
      application: project.application, foreign: project.foreign)
    let report: LintReport
    do {
      report = try judge(next)
    } catch let failure as Failure where failure.status == .invalidInput {
      return false
    }
    guard report.failure == nil, report.isBetter(than: self.report, without: findings) else {
      return false
    }
    (project, self.report, self.texts) = (next, report, texts)
    // Corrections that failed on the earlier texts may succeed now.
    rejected = []
    fixes += findings.map { finding in
      Fix(
        rule: finding.rule, migration: finding.migration, file: finding.file, line: finding.line,
        column: finding.column, message: finding.correction?.sentence ?? "")
    }
    return true
  }

  private func corrected(
    _ findings: [Finding]
  ) -> (migrations: [Migration], texts: [ExactText: [UInt8]])? {
    var (migrations, texts) = (project.migrations, texts)
    for (index, migration) in migrations.enumerated() {
      let corrections = findings.filter { $0.migration == migration.id }.compactMap(\.correction)
      guard !corrections.isEmpty else { continue }
      guard let bytes = texts[migration.id],
        let text = ManifestText(bytes, file: migration.file)
      else { return nil }
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
      texts[migration.id] = new
    }
    return (migrations, texts)
  }
}

extension Finding {
  /// Identifies a finding independently of its line.
  fileprivate var key: [ExactText] { [rule, migration, object ?? "", message].map(\.exact) }
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
    let unfinished = gone.compactMap { finding in
      finding.correction?.unfinishedColumn.map {
        ["loses-values", finding.migration, $0].map(\.exact)
      }
    }
    let errors = counts(findings.filter { $0.severity == .error && !$0.isSuppressed })
      .filter { !unfinished.contains($0.key) }
    return counts(gone).allSatisfy { after[$0] ?? 0 <= (before[$0] ?? 0) - $1 }
      && errors.allSatisfy { $1 <= before[$0] ?? 0 }
  }
}
