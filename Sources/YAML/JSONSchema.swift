import SchemaManifest
import SchemaSQLText

/// JSON Schemas (draft-07, which editors support best) of the files that people write. They are derived from
/// the grammar that decodes the files.
///
/// A schema never refuses a file that the decoder accepts. It cannot check properties of YAML that JSON does
/// not have: quotes (`'007'` and `007`), an empty value as opposed to `null`, duplicate keys, positions. It
/// also lacks the decoder's further checks, such as that of a primary key over a missing column.
package enum JSONSchema {
  /// The schema of a manifest.
  package static var manifest: String {
    document("A migration", "One migration of schemactl.", Grammar.manifest)
  }

  package static func document(
    _ title: String, _ description: String, _ rule: MappingRule, mayBeEmpty: Bool = false
  ) -> String {
    var builder = SchemaBuilder()
    let root = builder.members(of: rule, orNull: mayBeEmpty)
    let start: [SchemaBuilder.Member] = [
      ("$schema", .string("http://json-schema.org/draft-07/schema#")),
      ("title", .string(title)), ("description", .string(description)),
    ]
    return JSON.object(start + root + [("definitions", .object(builder.definitions))]).document
  }
}

/// Converts shapes into schemas, and collects the named definitions.
private struct SchemaBuilder {
  typealias Member = (key: String, value: JSON)

  private(set) var definitions: [Member] = []
  private var defined: Set<ExactText> = []

  private mutating func reference(
    _ name: String, _ members: (inout SchemaBuilder) -> [Member]
  ) -> [Member] {
    if defined.insert(name) {
      let members = members(&self)
      definitions.append((name, .object(members)))
    }
    return [("$ref", .string("#/definitions/\(name)"))]
  }

  private mutating func schema(_ shape: Shape) -> JSON { .object(members(of: shape)) }

  mutating func members(of shape: Shape) -> [Member] {
    switch shape {
    case .text(let rule): text(rule)
    case .sql, .expression: reference("sql") { $0.scalar + [("pattern", .string(notBlank))] }
    case .script: reference("script") { $0.scalar + [("pattern", .string("[\\s\\S]"))] }
    case .literal, .columnDefault: reference("value") { $0.value(Grammar.literal) }
    case .constant: reference("constant") { $0.value(Grammar.constant) }
    case .integer(let range): bounded("integer", "\(range.lowerBound)", "\(range.upperBound)")
    case .number(let range): bounded("number", "\(range.lowerBound)", "\(range.upperBound)")
    case .boolean: [type("boolean")]
    case .consent: [type("boolean"), ("const", true.json)]
    case .choice(let choices): choice(choices)
    case .list(let element, let atLeast):
      [type("array")] + minimum("minItems", atLeast) + [("items", schema(element))]
    case .oneOrMany(let element):
      any([schema(element), schema(.list(of: element, atLeast: 1))])
    case .mapping(let rule): reference(rule)
    case .map(let key, let value, let atLeast): map(key, value, atLeast)
    case .nullable(let inner): any([schema(inner), .object([type("null")])])
    case .either(let short, let rule): any([schema(short), .object(reference(rule))])
    case .operation: reference("operation") { $0.operation() }
    }
  }

  // MARK: Mappings

  private mutating func reference(_ rule: MappingRule) -> [Member] {
    reference(rule.definitionName) { $0.members(of: rule) }
  }

  mutating func members(of rule: MappingRule, orNull: Bool = false) -> [Member] {
    let required = rule.keys.filter(\.isRequired).map(\.name)
    let alternatives = rule.exactlyOneOf.map { JSON.object([("required", [$0].json)]) }
    let type: Member = orNull ? ("type", ["object", "null"].json) : type("object")
    return [type, ("additionalProperties", false.json)]
      + (required.isEmpty ? [] : [("required", required.json)])
      + (alternatives.isEmpty ? [] : [("oneOf", .array(alternatives))])
      + [("properties", .object(rule.keys.map { ($0.name, property($0.summary, $0.shape)) }))]
  }

  private mutating func property(_ summary: String, _ shape: Shape) -> JSON {
    .object([("description", .string(summary))] + members(of: shape))
  }

  private mutating func map(_ key: Shape, _ value: Shape, _ atLeast: Int) -> [Member] {
    // JSON keys are texts, so a schema cannot check keys that represent other values.
    let names: [Member] =
      if case .text = key { [("propertyNames", schema(key))] } else { [] }
    return [type("object")] + minimum("minProperties", atLeast) + names
      + [("additionalProperties", schema(value))]
  }

  /// One alternative for each operation, so that an editor that knows the name can offer the keys.
  private mutating func operation() -> [Member] {
    any(
      Grammar.operations.map { rule in
        let lint = property("Suppressed findings of lint.", .mapping(Grammar.lint))
        return .object([
          ("title", .string(rule.name)), ("description", .string(rule.summary)), type("object"),
          ("additionalProperties", false.json), ("required", [rule.name].json),
          (
            "properties",
            .object([(rule.name, property(rule.summary, rule.shape)), ("lint", lint)])
          ),
        ])
      })
  }

  // MARK: Values

  private func text(_ rule: TextRule) -> [Member] {
    [type("string")] + (rule.pattern.map { [("pattern", .string($0))] } ?? [])
  }

  private mutating func value(_ rule: MappingRule) -> [Member] {
    any([.object(scalar), .object(members(of: rule))])
  }

  /// The words that an editor can offer, and a pattern for their other spellings.
  private func choice(_ choices: [String]) -> [Member] {
    [type("string")]
      + any([
        .object([("enum", choices.json)]),
        .object([("pattern", .string("^(\(choices.map(anySpelling).joined(separator: "|")))$"))]),
      ])
  }

  private func bounded(_ name: String, _ lowest: String, _ highest: String) -> [Member] {
    [type(name), ("minimum", .literal(lowest)), ("maximum", .literal(highest))]
  }

  private func type(_ name: String) -> Member { ("type", .string(name)) }

  private func any(_ schemas: [JSON]) -> [Member] { [("anyOf", .array(schemas))] }

  private func minimum(_ keyword: String, _ count: Int) -> [Member] {
    count == 0 ? [] : [(keyword, .literal("\(count)"))]
  }

  private var scalar: [Member] {
    [("type", ["string", "number", "boolean", "null"].json)]
  }
}

extension MappingRule {
  /// The name of a definition: `column` for `a column`. A key in backquotes is its own name.
  fileprivate var definitionName: String {
    let words = name.split(separator: " ").drop { $0 == "a" || $0 == "an" }
    return words.joined(separator: "_").filter { $0 != "`" }
  }
}

private let notBlank = "[^ \\t\\r\\n]"

extension TextRule {
  /// An ECMA 262 pattern. Only the decoder checks whether a date exists in the calendar.
  fileprivate var pattern: String? {
    switch self {
    case .any: nil
    case .filled, .name, .type: notBlank
    case .hexadecimal: "^([0-9A-Fa-f]{2})*$"
    case .date: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
    case .version: "^0*[0-9]{1,3}(\\.0*[0-9]{1,3}){1,2}$"
    }
  }
}

/// A pattern for all spellings of a word that `matchingChoice` accepts.
private func anySpelling(_ word: String) -> String {
  word.unicodeScalars.map { scalar in
    switch scalar {
    case "a"..."z": "[\(scalar.properties.uppercaseMapping)\(scalar)]"
    case "_": "[_ ]"
    default: "\(scalar)"
    }
  }.joined()
}
