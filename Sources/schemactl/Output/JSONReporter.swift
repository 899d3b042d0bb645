import SchemaApply
import SchemaFleet
import SchemaHistory
import SchemaSQLText
import SchemaYAML

/// A value that can be a JSON member.
package protocol JSONConvertible {
  var json: JSON { get }
}

extension JSON: JSONConvertible, ExpressibleByDictionaryLiteral {
  package var json: JSON { self }

  package init(dictionaryLiteral elements: (String, any JSONConvertible)...) {
    self = .object(elements.map { ($0.0, $0.1.json) })
  }

  fileprivate var members: [(String, JSON)] {
    if case .object(let members) = self { members } else { [] }
  }

  /// Joins the members of two objects.
  static func + (first: JSON, second: JSON) -> JSON { .object(first.members + second.members) }
}

extension Bool: JSONConvertible { package var json: JSON { .bool(self) } }
extension Int: JSONConvertible { package var json: JSON { .integer(Int64(self)) } }
extension Int64: JSONConvertible { package var json: JSON { .integer(self) } }
extension String: JSONConvertible { package var json: JSON { .string(self) } }
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  package var json: JSON { self?.json ?? .null }
}
extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSON { .array(map(\.json)) }
}

/// Prints one JSON document on standard output, and nothing on standard error (docs/json).
final class JSONReporter: Reporter {
  private let output: Output
  /// Warnings so far, for the `notes` of documents that have them.
  private var warnings: [JSON] = []

  init(_ output: Output) {
    self.output = output
  }

  func warn(_ text: String) { warnings.append(.string(text)) }

  func stop(_ failure: Failure, _ command: String?) {
    write(failure.isResult ? emptyDocument(of: command, failure) : ["error": failure.error])
  }

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

let nothing = [String]()

/// The document of a command that failed without a result.
func emptyDocument(of command: String?, _ failure: Failure) -> JSON {
  let document: JSON =
    switch command {
    case "migrate": MigrateReport().json
    case "plan": ["migrations": nothing, "script": JSON.null]
    case "status": ["current": JSON.null, "pending": nothing, "applied": nothing]
    case "verify": ["ok": false, "history": nothing, "ledger": nothing, "drift": nothing]
    case "diff": differences([], isEqual: false)
    case "new": ["id": JSON.null, "file": JSON.null]
    case "inspect": ["objects": nothing, "manifest": JSON.null, "tables": nothing]
    case "import": ["tool": JSON.null, "migrations": nothing, "notes": nothing]
    case "squash": ["id": JSON.null, "file": JSON.null, "replaced": nothing]
    case "generate": ["file": JSON.null, "stale": false, "text": JSON.null]
    case "bundle": ["file": JSON.null, "migrations": 0, "drafts": nothing]
    case "init": ["files": nothing, "at": JSON.null] + adoption(nil)
    case "adopt": ["at": JSON.null] + adoption(nil)
    case "lint": ["profile": JSON.null, "findings": nothing, "summary": JSON.null]
    case "freeze": ["frozen": nothing, "release": JSON.null, "file": JSON.null]
    case "renumber": ["renamed": nothing]
    case "repair": ["ledger": nothing]
    case "restore": restoration()
    default: [:]
    }
  return .object(document.members.filter { $0.0 != "failed" }) + ["failed": failure]
}
