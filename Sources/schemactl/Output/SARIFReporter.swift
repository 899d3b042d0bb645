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

  func report(_ event: Event) {
    if case .note(let text) = event { notes.append(text) }
    if case .warning(let text) = event { warnings.append(text) }
    guard var annotations = Annotations(event) else { return }
    annotations.notes.insert(contentsOf: notes, at: 0)
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
      "defaultConfiguration": [
        "level": (level == .off ? .note : level).rawValue
      ] as JSON,
      "properties": ["tags": rule == nil ? ["sqlite", group] : ["sqlite", "lint"]] as JSON,
    ]
  }

  // MARK: The run itself

  private func invocation(_ annotations: Annotations) -> JSON {
    let notifications =
      annotations.problems.map { notification($0.message, "error") }
      + warnings.map { notification($0, "warning") }
      + annotations.notes.map { notification($0, "note") }
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
    let (kind, reason) =
      switch suppression {
      case .allowed(let reason): ("inSource", reason)
      case .accepted(let reason): ("external", reason)
      }
    return ["kind": kind, "status": "accepted", "justification": reason]
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
  var result = ""
  for byte in path.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      result.unicodeScalars.append(Unicode.Scalar(byte))
    case _ where "-._~/".utf8.contains(byte): result.unicodeScalars.append(Unicode.Scalar(byte))
    default:
      let digits = String(byte, radix: 16, uppercase: true)
      result += "%" + (digits.count == 1 ? "0" : "") + digits
    }
  }
  return result
}
