import SchemaGit
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
  /// The notes that were reported before the result.
  private var notes: [String] = []
  private var warnings: [String] = []

  init(_ output: Output) {
    self.output = output
  }

  func note(_ text: String) { notes.append(text) }

  func warn(_ text: String) { warnings.append(text) }

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
    let found = annotations.found.filter { $0.rule != Annotation.ofCommand }
    var rules: [String] = []
    for annotation in found where !rules.contains(annotation.rule) {
      rules.append(annotation.rule)
    }
    let driver: JSON = [
      "name": "schemactl", "semanticVersion": ToolVersion.current,
      "informationUri": Self.home ?? "man:schemactl(1)", "rules": rules.map(descriptor),
    ]
    let base: JSON = ["description": text("The root of the repository.")]
    return [
      "tool": ["driver": driver] as JSON, "invocations": [invocation(annotations)],
      "originalUriBaseIds": ["%SRCROOT%": base] as JSON, "columnKind": "unicodeCodePoints",
      "results": results(found, rules),
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
    let summary = rule?.summary ?? summary(ofRule: id)
    let level = rule?.severity(under: .additive) ?? .error
    return [
      "id": id, "name": pascalCase(id), "shortDescription": text(summary),
      "fullDescription": text(rule?.why ?? summary),
      "help": text(explanation(of: id) ?? summary),
      "helpUri": rule == nil ? page : "\(page)#\(id)",
      "defaultConfiguration": ["level": (level == .off ? .note : level).rawValue] as JSON,
      "properties": ["tags": rule == nil ? ["sqlite", group] : ["sqlite", "lint"]] as JSON,
    ]
  }

  // MARK: Invocation

  private func invocation(_ annotations: Annotations) -> JSON {
    let notifications =
      annotations.found.filter { $0.rule == Annotation.ofCommand }
      .map { notification($0.message, "error") }
      + warnings.map { notification($0, "warning") }
      + (notes + annotations.fixes + annotations.notes).map { notification($0, "note") }
    return [
      "executionSuccessful": annotations.status.isResult,
      "exitCode": Int(annotations.status.rawValue), "toolExecutionNotifications": notifications,
    ]
  }

  private func notification(_ message: String, _ level: String) -> JSON {
    ["level": level, "message": text(message)]
  }

  // MARK: Results

  private func results(_ annotations: [Annotation], _ rules: [String]) -> [JSON] {
    var occurrences: [ExactText: Int] = [:]
    return annotations.map { annotation in
      let subject = subject(of: annotation)
      occurrences[subject, default: 0] += 1
      let fingerprint = SHA256.hex("\(subject)\n\(occurrences[subject] ?? 1)".utf8)
      let result: JSON = [
        "ruleId": annotation.rule, "ruleIndex": rules.firstIndex(of: annotation.rule),
        "level": annotation.level.rawValue, "message": text(annotation.message),
      ]
      return result
        + (annotation.place.map { ["locations": [["physicalLocation": location($0)] as JSON]] }
          ?? [:])
        + ["partialFingerprints": ["schemactl/v1": fingerprint] as JSON]
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

  /// Returns the rule, the file and the message without its numbers: they stay the same when lines move.
  private func subject(of annotation: Annotation) -> String {
    [annotation.rule, annotation.place?.file ?? "", annotation.lines[0].filter { !$0.isNumber }]
      .joined(separator: "\n")
  }
}

/// Converts `drop-column` to `DropColumn`, the form of rule names in SARIF (section 3.49.7).
private func pascalCase(_ id: String) -> String {
  id.split { $0 == "-" || $0 == "/" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
}

/// Returns the summary of a rule that does not belong to lint.
private func summary(ofRule id: String) -> String {
  let states =
    HistoryState.allCases.map { ("history/\($0.rawValue)", $0.problem) }
    + LedgerState.allCases.map { ("ledger/\($0.rawValue)", $0.problem) }
  if let problem = states.first(where: { $0.0 == id })?.1 { return problem }
  return switch id {
  case "history/lock": "`history.lock` is invalid, or lacks a line of another revision."
  case "manifest/invalid": "A manifest is invalid."
  case "configuration/invalid": "The configuration is invalid."
  case "replay/failed": "The replay of the history fails."
  case "schema/stale": "The schema file is not the schema of the latest migration."
  case "database/drift": "The schema of a database differs from its history."
  case "database/not-ours": "This history did not create the database."
  default: id
  }
}
