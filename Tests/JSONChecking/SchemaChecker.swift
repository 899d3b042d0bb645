import Foundation

/// Validates JSON against a JSON Schema (draft-07), limited to the keywords of the project's
/// schemas. An unknown keyword is reported as a problem, so that none is ignored.
package struct SchemaChecker {
  private let root: JSONTree
  /// The folder of files that `$ref` names.
  private let folder: URL?
  /// Whether an undeclared property is a problem, even if the schema allows later versions to add
  /// some.
  private let isClosed: Bool

  package init(_ root: JSONTree, folder: URL? = nil, isClosed: Bool = false) {
    self.root = root
    self.folder = folder
    self.isClosed = isClosed
  }

  package init(contentsOf file: URL, isClosed: Bool = false) throws {
    self.init(
      try JSONTree(contentsOf: file), folder: file.deletingLastPathComponent(), isClosed: isClosed)
  }

  /// The problems of a document with their paths: `/operations/0: …`.
  package func problems(of instance: JSONTree) -> [String] { problems(instance, root, at: "") }

  private func problems(_ instance: JSONTree, _ schema: JSONTree, at path: String) -> [String] {
    guard case .object(let keywords) = schema else {
      return schema == .bool(true) ? [] : ["\(path): nothing may stand here"]
    }
    // In draft-07 other keywords next to `$ref` are ignored.
    if case .string(let reference) = keywords["$ref"] {
      return problems(instance, following: reference, at: path)
    }
    var found = undeclared(instance, keywords).map { "\(path): undeclared property \($0)" }
    for (keyword, value) in keywords.sorted(by: { $0.key < $1.key }) {
      found += problems(instance, keyword, value, keywords, at: path)
    }
    return found
  }

  private func problems(
    _ instance: JSONTree, following reference: String, at path: String
  ) -> [String] {
    let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    var checker = self
    if let file = parts.first, !file.isEmpty {
      guard let url = folder?.appendingPathComponent(String(file)),
        let other = try? SchemaChecker(contentsOf: url, isClosed: isClosed)
      else { return ["\(path): there is no file \(file)"] }
      checker = other
    }
    var target = checker.root
    for name in parts.dropFirst().joined().split(separator: "/") {
      guard let next = target[String(name)] else { return ["\(path): there is no \(reference)"] }
      target = next
    }
    return checker.problems(instance, target, at: path)
  }

  private func undeclared(_ instance: JSONTree, _ keywords: [String: JSONTree]) -> [String] {
    guard isClosed, case .object(let members) = instance,
      case .object(let properties) = keywords["properties"],
      keywords["additionalProperties"] == nil
    else { return [] }
    return members.keys.filter { properties[$0] == nil }.sorted()
  }

  // MARK: Keywords

  private func problems(
    _ instance: JSONTree, _ keyword: String, _ value: JSONTree, _ keywords: [String: JSONTree],
    at path: String
  ) -> [String] {
    func unless(_ condition: Bool, _ message: String) -> [String] {
      condition ? [] : ["\(path): \(message)"]
    }
    switch (keyword, value, instance) {
    case ("$schema", _, _), ("title", _, _), ("description", _, _), ("definitions", _, _):
      return []
    case ("type", .string(let name), _):
      return unless(instance.isOfType(name), "is no \(name)")
    case ("type", .array(let names), _):
      return unless(
        names.contains {
          if case .string(let name) = $0 { instance.isOfType(name) } else { false }
        },
        "is of another type")
    case ("enum", .array(let values), _):
      return unless(values.contains(instance), "is none of the values")
    case ("const", _, _): return unless(instance == value, "is another value")
    case ("anyOf", .array(let schemas), _):
      return unless(
        schemas.contains { problems(instance, $0, at: path).isEmpty }, "fits no alternative")
    case ("oneOf", .array(let schemas), _):
      let count = schemas.count { problems(instance, $0, at: path).isEmpty }
      return unless(count == 1, "fits \(count) alternatives")
    case ("pattern", .string(let pattern), .string(let text)):
      return unless(matches(text, pattern), "does not match \(pattern)")
    case ("minimum", .number(let limit), .number(let number)):
      return unless(number >= limit, "is less than \(limit)")
    case ("maximum", .number(let limit), .number(let number)):
      return unless(number <= limit, "is more than \(limit)")
    case ("minItems", .number(let limit), .array(let elements)):
      return unless(Double(elements.count) >= limit, "has too few elements")
    case ("minProperties", .number(let limit), .object(let members)):
      return unless(Double(members.count) >= limit, "has too few properties")
    case ("items", _, .array(let elements)):
      return elements.enumerated().flatMap { problems($1, value, at: "\(path)/\($0)") }
    case ("required", .array(let names), .object(let members)):
      return names.flatMap { name in
        guard case .string(let name) = name else { return ["\(path): a name that is none"] }
        return unless(members[name] != nil, "needs \(name)")
      }
    case ("properties", .object(let schemas), .object(let members)):
      return members.sorted { $0.key < $1.key }.flatMap { name, member in
        schemas[name].map { problems(member, $0, at: "\(path)/\(name)") } ?? []
      }
    case ("additionalProperties", _, .object(let members)):
      let names = keywords["properties"]
      return members.sorted { $0.key < $1.key }.flatMap { name, member in
        names?[name] == nil ? problems(member, value, at: "\(path)/\(name)") : []
      }
    case ("propertyNames", _, .object(let members)):
      return members.keys.sorted().flatMap {
        problems(.string($0), value, at: "\(path)/\($0)")
      }
    case ("pattern", _, _), ("minimum", _, _), ("maximum", _, _), ("minItems", _, _),
      ("minProperties", _, _), ("items", _, _), ("required", _, _), ("properties", _, _),
      ("additionalProperties", _, _), ("propertyNames", _, _):
      return []
    default: return ["\(path): the schema has the unknown keyword \(keyword)"]
    }
  }

  private func matches(_ text: String, _ pattern: String) -> Bool {
    text.range(of: pattern, options: .regularExpression) != nil
  }
}

extension JSONTree {
  fileprivate func isOfType(_ name: String) -> Bool {
    switch (self, name) {
    case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.string, "string"),
      (.array, "array"), (.object, "object"):
      true
    case (.number(let number), "integer"): number == number.rounded()
    default: false
    }
  }
}
