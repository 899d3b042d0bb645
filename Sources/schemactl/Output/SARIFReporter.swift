import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// Prints one log in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS, errata
/// 01), on standard output.
final class SARIFReporter: Reporter {
  private let output: Output
  private let paths = RepositoryPaths()
  /// Notes that were reported before the result.
  private var notes: [String] = []
  private var warnings: [String] = []

  init(_ output: Output) {
    self.output = output
  }

  func note(_ text: String) { notes.append(text) }

  func warn(_ text: String) { warnings.append(text) }

  func stop(_ failure: Failure, _ command: String?) { write(Annotations(failure)) }

  func report(
    _ json: () -> JSON?, _ annotations: () -> Annotations?, _ text: (TextReporter) -> Void
  ) {
    if let annotations = annotations() { write(annotations) }
  }

  private func write(_ annotations: Annotations) {
    let log: JSON = [
      "$schema":
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
      "version": "2.1.0", "runs": [run(annotations)],
    ]
    output.write(log.line)
  }

  private func run(_ annotations: Annotations) -> JSON {
    var rules: [String] = []
    for annotation in annotations.found where !rules.contains(annotation.rule) {
      rules.append(annotation.rule)
    }
    let driver: JSON = [
      "name": "schemactl", "semanticVersion": ToolVersion.current,
      "informationUri": Self.home ?? "man:schemactl(1)", "rules": rules.map(descriptor),
    ]
    let base: JSON = ["description": text("The top of the repository that the files are in.")]
    return [
      "tool": ["driver": driver] as JSON, "invocations": [invocation(annotations)],
      "originalUriBaseIds": ["%SRCROOT%": base] as JSON, "columnKind": "unicodeCodePoints",
      "results": results(annotations.found, rules),
    ]
  }

  private func text(_ text: String) -> JSON { ["text": text] }

  // MARK: Rules

  /// The web page of the GitHub action that runs this command, from GitHub's variables (Variables
  /// reference); nil elsewhere.
  private static var home: String? {
    guard let server = Environment["GITHUB_SERVER_URL"],
      let repository = Environment["GITHUB_ACTION_REPOSITORY"], !repository.isEmpty
    else { return nil }
    return "\(server)/\(repository)"
  }

  private func descriptor(_ id: String) -> JSON {
    let group = String(id.prefix { $0 != "/" })
    let page = Self.home.map { "\($0)/blob/HEAD/docs/rules.md" } ?? "man:schemactl(1)"
    let rule = Rule.named(id)
    let own = AnnotationRule.named(id)
    let summary = rule?.summary ?? own?.summary ?? id
    let level = rule?.severity(under: .additive) ?? .error
    return [
      "id": id, "name": pascalCase(id), "shortDescription": text(summary),
      "fullDescription": text(rule?.why ?? summary),
      "help": text(explanation(of: id) ?? own?.advice ?? summary),
      "helpUri": rule == nil ? page : "\(page)#\(id)",
      "defaultConfiguration": ["level": (level == .off ? .note : level).rawValue] as JSON,
      "properties": ["tags": rule == nil ? ["sqlite", group] : ["sqlite", "lint"]] as JSON,
    ]
  }

  // MARK: The run itself

  private func invocation(_ annotations: Annotations) -> JSON {
    let notifications =
      annotations.problems.map { notification($0.message, "error") }
      + warnings.map { notification($0, "warning") }
      + (notes + annotations.notes).map { notification($0, "note") }
    return [
      "executionSuccessful": annotations.status.rawValue < ExitStatus.usage.rawValue,
      "exitCode": Int(annotations.status.rawValue), "toolExecutionNotifications": notifications,
    ]
  }

  private func notification(_ message: String, _ level: String) -> JSON {
    ["level": level, "message": text(message)]
  }

  // MARK: Results

  private func results(_ annotations: [Annotation], _ rules: [String]) -> [JSON] {
    var occurrences: [[ExactText]: Int] = [:]
    return annotations.map { annotation in
      let subject = [annotation.rule] + annotation.subject
      let occurrence = occurrences[subject.map(\.exact), default: 0]
      occurrences[subject.map(\.exact)] = occurrence + 1
      let result: JSON = [
        "ruleId": annotation.rule, "ruleIndex": rules.firstIndex(of: annotation.rule),
        "level": annotation.level.rawValue, "message": text(annotation.message),
      ]
      return result
        + (annotation.place.map { ["locations": [["physicalLocation": location($0)] as JSON]] }
          ?? [:])
        + ["partialFingerprints": ["schemactl/v1": fingerprint(subject, occurrence)] as JSON]
        + (annotation.isFrozen ? ["properties": ["frozen": true] as JSON] : [:])
        // An empty list means that the tool supports suppressions and this result has none.
        + ["suppressions": annotation.suppression.map { [suppression($0)] } ?? []]
    }
  }

  private func location(_ place: Failure.Place) -> JSON {
    let artifact: JSON =
      if let path = paths.relative(place.file) {
        ["uri": percentEncoded(path), "uriBaseId": "%SRCROOT%"]
      } else {
        ["uri": "file://" + percentEncoded(paths.absolute(place.file))]
      }
    let region: JSON = [
      "startLine": place.position?.line ?? 1, "startColumn": place.position?.column ?? 1,
    ]
    return ["artifactLocation": artifact, "region": region]
  }

  private func suppression(_ suppression: Annotation.Suppression) -> JSON {
    ["kind": suppression.kind, "status": "accepted", "justification": suppression.reason]
  }

  /// Stays the same while a rule reports the same in the same migration, regardless of the line.
  private func fingerprint(_ subject: [String], _ occurrence: Int) -> String {
    let parts = (subject + [String(occurrence)]).map { "\($0.utf8.count):\($0)" }
    return SHA256.hex(parts.joined().utf8)
  }
}

/// `drop-column` as `DropColumn`, the form that SARIF uses for names of rules (section 3.49.7).
private func pascalCase(_ id: String) -> String {
  id.split { $0 == "-" || $0 == "/" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
}

/// Encodes the text as part of a URI's path (RFC 3986, section 3.3), except `/`.
private func percentEncoded(_ path: String) -> String {
  path.utf8.map { byte in
    let scalar = Unicode.Scalar(byte)
    if scalar.properties.isAlphabetic && byte < 128 || "0123456789-._~/".utf8.contains(byte) {
      return String(scalar)
    }
    return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
  }.joined()
}

/// The description of an annotation's rule if it is not a lint rule.
private struct AnnotationRule {
  let id: String
  /// One sentence.
  let summary: String
  let advice: String

  static func named(_ id: String) -> AnnotationRule? { all.first { $0.id == id } }

  static let all: [AnnotationRule] = [
    AnnotationRule(
      id: "history/edited", summary: "A frozen migration was edited.",
      advice: """
        Devices that have run it will not run it again, so only new installs see the edit. Restore the \
        file from git and put the change into a new migration. If no device has run it, \
        `schemactl freeze --accept ID --reason TEXT` records the edit.
        """),
    AnnotationRule(
      id: "history/removed", summary: "The file of a frozen migration is missing.",
      advice: "Restore it from git. New installs must run it, too."),
    AnnotationRule(
      id: "history/renamed", summary: "A frozen migration was renamed.",
      advice: "Databases know it by its old name. Give the file its old name."),
    AnnotationRule(
      id: "history/reordered", summary: "A frozen migration has another place in the order.",
      advice: "Databases have run it in the old order. Give the file its old number."),
    AnnotationRule(
      id: "history/inserted", summary: "A new migration comes before a frozen one.",
      advice: "Databases that have run the frozen one would never run it. Run `schemactl "
        + "renumber ID`."),
    AnnotationRule(
      id: "history/engine-differs",
      summary: "This SQLite version gives a frozen migration another schema than the version that "
        + "froze it.",
      advice: """
        The manifests are unchanged. `schemactl verify --database FILE` reports whether a database \
        really differs.
        """),
    AnnotationRule(
      id: "history/lock",
      summary: "history.lock is invalid, or lacks a line of another revision.",
      advice: "Restore the line from git. `schemactl freeze` resolves conflict markers."),
    AnnotationRule(
      id: "manifest/invalid", summary: "A manifest is invalid.",
      advice: "Correct it at the reported place. `schemactl check` reports every problem."),
    AnnotationRule(
      id: "configuration/invalid", summary: "The configuration is invalid.",
      advice: "Correct schemactl.yaml at the reported place."),
    AnnotationRule(
      id: "replay/failed",
      summary: "The history cannot be replayed from its beginning, or from a release.",
      advice:
        "Correct the migration, or restore it if it is frozen. A new install would stop there."),
    AnnotationRule(
      id: "replay/differs",
      summary: "The final schema depends on the release that a device starts from.",
      advice: """
        A migration uses a value of the connection that ran an earlier one, such as \
        `last_insert_rowid()` or `changes()`. Make the migration independent of it.
        """),
    AnnotationRule(
      id: "schema/stale", summary: "The schema file is not the schema of the latest migration.",
      advice: "Run `schemactl inspect --write` and commit the file."),
    AnnotationRule(
      id: "ledger/unknown",
      summary: "A database has run a migration that the history does not have.",
      advice: "Its app is newer than this history. Use the history that belongs to it."),
    AnnotationRule(
      id: "ledger/missing",
      summary: "A database has skipped a frozen migration and run a later one.",
      advice: "See `schemactl status --database FILE`."),
    AnnotationRule(
      id: "ledger/edited", summary: "A database has run another form of a frozen migration.",
      advice: "See `schemactl status --database FILE`."),
    AnnotationRule(
      id: "ledger/altered", summary: "A row of the ledger contradicts itself or history.lock.",
      advice: "See `schemactl status --database FILE`."),
    AnnotationRule(
      id: "ledger/out-of-order",
      summary: "A database has skipped a draft and run a later migration.",
      advice: "Run `schemactl renumber ID` to put the draft last."),
    AnnotationRule(
      id: "ledger/draft-edited", summary: "A draft was edited after a database ran it.",
      advice:
        "`schemactl migrate --reset-drafts` returns to the state before the first draft. Rows "
        + "written since then remain only in the `.before-reset` copy."),
    AnnotationRule(
      id: "database/drift", summary: "The schema of a database differs from its history.",
      advice: "`schemactl diff --database FILE` shows every difference."),
    AnnotationRule(
      id: "database/not-ours", summary: "This history did not create the database.",
      advice: "Name another database, or adopt this one with `schemactl adopt`."),
  ]
}
