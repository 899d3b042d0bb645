import SchemaSQLText

/// What may stand at a place of a file. Validation, the canonical form and the JSON schema all
/// follow from the shapes, so nothing about the grammar is written twice.
package indirect enum Shape: Sendable {
  case text(TextRule)
  /// An expression or statements. A plain number, boolean or null is SQL as it is written.
  case sql
  /// SQL statements, or none: a text that holds only comments does nothing.
  case script
  /// A value, `{ sql: … }` or `{ blob: … }`.
  case literal
  /// A literal whose plain texts may not read as expressions: as a default they look like SQL.
  case columnDefault
  /// A value that needs no SQLite to know it: a literal other than `{ sql: … }`.
  case constant
  case integer(ClosedRange<Int64>)
  case number(ClosedRange<Double>)
  case boolean
  /// `true` and nothing else: a consent.
  case consent
  /// One of some words. Read without regard to ASCII case, a space being as good as `_`.
  case choice([String])
  case list(of: Shape, atLeast: Int)
  case oneOrMany(Shape)
  case mapping(MappingRule)
  /// Keys that the author chooses.
  case map(key: Shape, value: Shape, atLeast: Int)
  /// Null, or the shape.
  case nullable(Shape)
  /// The short form, or a mapping.
  case either(Shape, MappingRule)
  /// One entry of `operations`: one operation's name, and `lint`.
  case operation
}

extension Shape {
  /// Whether it is a mapping that takes a key.
  package func hasKey(_ name: String) -> Bool {
    if case .mapping(let rule) = self { rule.key(name) != nil } else { false }
  }
}

package enum TextRule: Sendable {
  case any
  /// Not empty.
  case filled
  /// Of a table, a column, a rule: not empty.
  case name
  /// Two hexadecimal digits for each byte.
  case hexadecimal
  /// A day of the calendar, `2027-01-01`.
  case date
  /// A version of SQLite, `3.37` or `3.37.2`.
  case version
}

/// The keys of a mapping.
package struct MappingRule: Sendable {
  /// What it is, for messages: `a column`.
  package let name: String
  package let keys: [KeyRule]
  /// Exactly one of these keys must stand there.
  package let exactlyOneOf: [String]

  package init(_ name: String, _ keys: [KeyRule], exactlyOneOf: [String] = []) {
    self.name = name
    self.keys = keys
    self.exactlyOneOf = exactlyOneOf
  }

  package func key(_ name: String) -> KeyRule? { keys.first { $0.name == name } }
}

package struct KeyRule: Sendable {
  package let name: String
  package let shape: Shape
  package let isRequired: Bool
  /// One line for documents and editors.
  package let summary: String

  package static func required(_ name: String, _ shape: Shape, _ summary: String) -> KeyRule {
    KeyRule(name: name, shape: shape, isRequired: true, summary: summary)
  }

  package static func optional(_ name: String, _ shape: Shape, _ summary: String) -> KeyRule {
    KeyRule(name: name, shape: shape, isRequired: false, summary: summary)
  }
}

/// An operation of the manifest: its one declaration.
package struct OperationRule: Sendable {
  package let name: String
  package let summary: String
  package let shape: Shape
  /// Makes the operation of a body; what it reads is trusted only when nothing was reported.
  package let decode: @Sendable (inout ManifestDecoder, Node) -> Operation.Kind

  /// An operation whose body is a mapping.
  package init(
    _ name: String, _ summary: String, _ keys: [KeyRule], exactlyOneOf: [String] = [],
    decode: @escaping @Sendable (inout ManifestDecoder, Fields) -> Operation.Kind
  ) {
    self.name = name
    self.summary = summary
    shape = .mapping(MappingRule("`\(name)`", keys, exactlyOneOf: exactlyOneOf))
    self.decode = { decode(&$0, Fields($1)) }
  }

  package init(
    _ name: String, _ summary: String, shape: Shape,
    decode: @escaping @Sendable (inout ManifestDecoder, Node) -> Operation.Kind
  ) {
    self.name = name
    self.summary = summary
    self.shape = shape
    self.decode = decode
  }
}

/// The grammar of manifests and of the configuration: see `ManifestGrammar.swift`,
/// `OperationGrammar.swift` and `ConfigurationGrammar.swift` for the declarations.
package enum Grammar {}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
  /// The choice as a manifest spells it: `set_null` for SQL's `SET NULL`.
  package var word: String { String(rawValue.lowercased().map { $0 == " " ? "_" : $0 }) }
}

/// The word among `choices` that a text means, or nil.
package func matchingChoice(_ text: String, among choices: [String]) -> String? {
  let word = String(
    decoding: text.utf8.map { $0 == .space ? UInt8(ascii: "_") : $0.lowercased }, as: UTF8.self)
  return choices.first { $0 == word }
}
