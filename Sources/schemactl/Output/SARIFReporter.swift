import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaSQLText

/// One log in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS, errata 01),
/// and nothing else on standard output.
final class SARIFReporter: Reporter {
  private let output: Output
  private let paths = RepositoryPaths()
  /// Said before there was a result to put them into.
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
    output.write(JSON.object(log(annotations)).line)
  }

  private func log(_ annotations: Annotations) -> [(String, JSON)] {
    [
      (
        "$schema",
        .string(
          "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
        )
      ), ("version", .string("2.1.0")), ("runs", .array([.object(run(annotations))])),
    ]
  }

  private func run(_ annotations: Annotations) -> [(String, JSON)] {
    var rules: [String] = []
    for annotation in annotations.found where !rules.contains(annotation.rule) {
      rules.append(annotation.rule)
    }
    let driver: [(String, JSON)] = [
      ("name", .string("schemactl")), ("semanticVersion", .string(ToolVersion.current)),
      ("rules", .array(rules.map { .object(descriptor($0)) })),
    ]
    let base = JSON.object([
      ("description", text("The top of the repository that the files are in."))
    ])
    return [
      ("tool", .object([("driver", .object(driver))])),
      ("invocations", .array([.object(invocation(annotations))])),
      ("originalUriBaseIds", .object([("%SRCROOT%", base)])),
      ("columnKind", .string("unicodeCodePoints")),
      ("results", .array(results(annotations.found, rules))),
    ]
  }

  private func text(_ text: String) -> JSON { .object([("text", .string(text))]) }

  // MARK: Rules

  private func descriptor(_ id: String) -> [(String, JSON)] {
    if let rule = Rule.named(id) {
      return [
        ("id", .string(id)), ("shortDescription", text(rule.summary)),
        ("fullDescription", text(rule.why)), ("help", text(explanation(of: id) ?? rule.fix)),
      ]
    }
    guard let rule = AnnotationRule.named(id) else { return [("id", .string(id))] }
    return [
      ("id", .string(id)), ("shortDescription", text(rule.summary)),
      ("fullDescription", text(rule.summary)), ("help", text(rule.advice)),
    ]
  }

  // MARK: The run itself

  private func invocation(_ annotations: Annotations) -> [(String, JSON)] {
    let problems = annotations.problems.map { notification($0.message, "error") }
    let notes =
      warnings.map { notification($0, "warning") }
      + annotations.notes.map { notification($0, "note") }
    return [
      ("executionSuccessful", .bool(annotations.status.rawValue < ExitStatus.usage.rawValue)),
      ("exitCode", .integer(Int64(annotations.status.rawValue))),
      ("toolExecutionNotifications", .array(problems + notes)),
    ]
  }

  private func notification(_ message: String, _ level: String) -> JSON {
    .object([("level", .string(level)), ("message", text(message))])
  }

  // MARK: Results

  private func results(_ annotations: [Annotation], _ rules: [String]) -> [JSON] {
    var occurrences: [[ExactText]: Int] = [:]
    return annotations.map { annotation in
      let subject = [annotation.rule] + annotation.subject
      let occurrence = occurrences[subject.map(\.exact), default: 0]
      occurrences[subject.map(\.exact)] = occurrence + 1
      return .object(result(annotation, rules, fingerprint(subject, occurrence)))
    }
  }

  private func result(
    _ annotation: Annotation, _ rules: [String], _ fingerprint: String
  ) -> [(String, JSON)] {
    var members: [(String, JSON)] = [
      ("ruleId", .string(annotation.rule)),
      ("ruleIndex", .number(rules.firstIndex(of: annotation.rule))),
      ("level", .string(annotation.level.rawValue)), ("message", text(annotation.message)),
    ]
    if let place = annotation.place {
      members.append(("locations", .array([.object([("physicalLocation", location(place))])])))
    }
    members.append(
      ("partialFingerprints", .object([("schemactl/v1", .string(fingerprint))])))
    if annotation.isFrozen {
      members.append(("properties", .object([("frozen", .bool(true))])))
    }
    // An empty list says that suppressions are known, and that this is none.
    members.append(
      ("suppressions", .array(annotation.suppression.map { [suppression($0)] } ?? [])))
    return members
  }

  private func location(_ place: Failure.Place) -> JSON {
    let artifact: [(String, JSON)] =
      if let path = paths.relative(place.file) {
        [("uri", .string(percentEncoded(path))), ("uriBaseId", .string("%SRCROOT%"))]
      } else {
        [("uri", .string("file://" + percentEncoded(paths.absolute(place.file))))]
      }
    let region: [(String, JSON)] = [
      ("startLine", .number(place.position?.line ?? 1)),
      ("startColumn", .number(place.position?.column ?? 1)),
    ]
    return .object([("artifactLocation", .object(artifact)), ("region", .object(region))])
  }

  private func suppression(_ suppression: Annotation.Suppression) -> JSON {
    let (kind, reason) =
      switch suppression {
      case .allowed(let reason): ("inSource", reason)
      case .accepted(let reason): ("external", reason)
      }
    return .object([
      ("kind", .string(kind)), ("status", .string("accepted")), ("justification", .string(reason)),
    ])
  }

  /// The same as long as a rule finds the same in the same migration, wherever it stands there.
  private func fingerprint(_ subject: [String], _ occurrence: Int) -> String {
    let parts = (subject + [String(occurrence)]).map { "\($0.utf8.count):\($0)" }
    return SHA256.hex(parts.joined().utf8)
  }
}

/// The text as part of a URI's path (RFC 3986, section 3.3); `/` stays.
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
