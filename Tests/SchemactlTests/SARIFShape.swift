import Foundation

/// The parts of the JSON schema of SARIF 2.1.0 that schemactl writes: the optional and required
/// members of objects, and their types. As in the schema, other members are not allowed.
indirect enum SARIFShape: Sendable {
  case text
  case boolean
  case integer(from: Int)
  case word([String])
  case list(SARIFShape)
  case map(SARIFShape)
  case object(required: [String: SARIFShape], optional: [String: SARIFShape] = [:])

  static let log = object(
    required: ["version": .word(["2.1.0"]), "runs": .list(run)], optional: ["$schema": .text])

  private static let run = object(
    required: ["tool": .object(required: ["driver": component])],
    optional: [
      "invocations": .list(invocation), "results": .list(result),
      "originalUriBaseIds": .map(artifact),
      "columnKind": .word(["utf16CodeUnits", "unicodeCodePoints"]),
    ])

  private static let component = object(
    required: ["name": .text],
    optional: ["semanticVersion": .text, "informationUri": .text, "rules": .list(descriptor)])

  private static let descriptor = object(
    required: ["id": .text],
    optional: [
      "name": .text, "shortDescription": message, "fullDescription": message, "help": message,
      "helpUri": .text, "defaultConfiguration": .object(required: [:], optional: ["level": level]),
      "properties": .object(required: [:], optional: ["tags": .list(.text)]),
    ])

  private static let message = object(required: ["text": .text])

  private static let level = word(["none", "note", "warning", "error"])

  private static let invocation = object(
    required: ["executionSuccessful": .boolean],
    optional: [
      "exitCode": .integer(from: 0),
      "toolExecutionNotifications": .list(
        .object(required: ["message": message], optional: ["level": level])),
    ])

  private static let artifact = object(
    required: [:], optional: ["uri": .text, "uriBaseId": .text, "description": message])

  private static let region = object(
    required: [:], optional: ["startLine": .integer(from: 1), "startColumn": .integer(from: 1)])

  private static let location = object(
    required: [:],
    optional: [
      "physicalLocation": .object(
        required: ["artifactLocation": artifact], optional: ["region": region])
    ])

  private static let suppression = object(
    required: ["kind": .word(["inSource", "external"])],
    optional: ["status": .word(["accepted", "underReview", "rejected"]), "justification": .text])

  private static let result = object(
    required: ["message": message],
    optional: [
      "ruleId": .text, "ruleIndex": .integer(from: -1), "level": level,
      "locations": .list(location), "partialFingerprints": .map(.text),
      "suppressions": .list(suppression),
    ])

  /// The problems of a document, each with its place.
  func problems(of value: Any, at path: String = "$") -> [String] {
    switch self {
    case .text: value is String ? [] : ["\(path): no text"]
    case .boolean: value is Bool ? [] : ["\(path): neither true nor false"]
    case .integer(let least):
      (value as? Int).map { $0 >= least } == true ? [] : ["\(path): no number from \(least)"]
    case .word(let words):
      (value as? String).map(words.contains) == true ? [] : ["\(path): none of \(words)"]
    case .list(let element):
      (value as? [Any])?.enumerated().flatMap {
        element.problems(of: $0.element, at: "\(path)[\($0.offset)]")
      } ?? ["\(path): no list"]
    case .map(let element):
      (value as? [String: Any])?.flatMap { element.problems(of: $0.value, at: "\(path).\($0.key)") }
        ?? ["\(path): no object"]
    case .object(let required, let optional): problems(of: value, required, optional, at: path)
    }
  }

  private func problems(
    of value: Any, _ required: [String: SARIFShape], _ optional: [String: SARIFShape],
    at path: String
  ) -> [String] {
    guard let members = value as? [String: Any] else { return ["\(path): no object"] }
    let missing = required.keys.filter { members[$0] == nil }.map { "\(path).\($0): missing" }
    return missing
      + members.flatMap { key, member in
        (required[key] ?? optional[key])?.problems(of: member, at: "\(path).\(key)")
          ?? ["\(path).\(key): unknown"]
      }
  }
}
