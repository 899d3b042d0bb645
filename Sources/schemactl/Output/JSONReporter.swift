import SchemaFleet
import SchemaSQLText
import SchemaYAML

/// Prints one JSON document on standard output, and nothing on standard error (docs/json).
final class JSONReporter: Reporter {
  private let output: Output
  /// The warnings so far. Documents with a member `notes` include them.
  private var warnings: [JSON] = []

  init(_ output: Output) {
    self.output = output
  }

  func warn(_ text: String) { warnings.append(.string(text)) }

  func follow(_ event: FleetEvent) {
    guard case .ended(let header, let summary, let status) = event else { return }
    write(
      header.json + summary.json(status) + ["failures": summary.failures, "reports": JSON.null])
  }

  func report(
    _ json: () -> JSON?, _ annotations: () -> Annotations?, _ text: (TextReporter) -> Void
  ) {
    if let document = json() { write(document) }
  }

  private func write(_ document: JSON) {
    let noted = document.members.map { key, value in
      guard key == "notes", case .array(let notes) = value else { return (key, value) }
      return (key, JSON.array(warnings + notes))
    }
    output.write(JSON.object(noted).line)
  }
}
