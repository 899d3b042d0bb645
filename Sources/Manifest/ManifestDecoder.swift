import SchemaSQLText
import SchemaSQLite

/// Decodes a manifest.
///
/// - Parameter file: the name of the file in diagnostics.
/// - Throws: every problem of the document, in the order of the positions.
package func decodeManifest(_ document: Document, file: String) throws(InvalidInput) -> Manifest {
  guard let root = document.root, !root.isNull else {
    let message = "the file is empty: a manifest needs `operations`"
    let position = document.root?.position ?? Position(line: 1, column: 1)
    throw InvalidInput(
      found: document.diagnostics + [
        Diagnostic(file: file, position: position, message: message)
      ])
  }
  var validator = Validator(file: file)
  validator.check(root, .mapping(Grammar.manifest), .whole("a manifest"))
  var decoder = ManifestDecoder(source: document.source, file: file)
  let manifest = decoder.manifest(root)
  try throwIfAny(document.diagnostics + validator.diagnostics + decoder.diagnostics)
  return manifest
}

package func throwIfAny(_ diagnostics: [Diagnostic]) throws(InvalidInput) {
  if !diagnostics.isEmpty { throw InvalidInput(found: diagnostics) }
}

extension InvalidInput {
  /// Sorts the problems by position and removes duplicates: an alias repeats the problems of its anchor.
  package init(found diagnostics: [Diagnostic]) {
    let start = Position(line: 0, column: 0)
    var seen: Set<Diagnostic> = []
    let ordered = diagnostics.filter { seen.insert($0).inserted }.enumerated().sorted {
      ($0.element.position ?? start, $0.offset) < ($1.element.position ?? start, $1.offset)
    }
    self.init(ordered.map(\.element))
  }
}

/// Decodes nodes into values, and reports problems that the shapes of the grammar cannot express.
///
/// The validator has already reported every node with a wrong shape. The decoder reads such a node as an
/// empty text, so that one run finds all other problems too. The caller discards the result.
package struct ManifestDecoder {
  package let source: SourceText
  private let file: String
  private(set) var diagnostics: [Diagnostic] = []

  package init(source: SourceText, file: String) {
    self.source = source
    self.file = file
  }

  /// - Parameter meant: the name that the author probably meant.
  package mutating func report(_ message: String, meant: String? = nil, at position: Position) {
    diagnostics.append(
      Diagnostic(file: file, position: position, message: message, meant: meant))
  }

  package mutating func manifest(_ root: Node) -> Manifest {
    let operations = root.elements("operations").compactMap { operation($0) }
    return Manifest(
      file: file,
      description: root["description"].map(text),
      operations: operations,
      before: root.elements("before").map { assertion($0) },
      after: root.elements("after").map { assertion($0) },
      foreignKeys: choice(root["foreign_keys"]) ?? .deferred,
      requiredSQLite: root["requires"]?["sqlite"].flatMap { SQLiteVersion(text($0)) },
      replaces: root.elements("replaces").compactMap { replacedEntries($0) },
      squashed: root.elements("replaces").flatMap { names($0["migrations"]) },
      suppressions: suppressions(root["lint"]),
      canonicalForm: CanonicalForm.manifest(root, operations: operations.map(\.canonicalForm)))
  }

  private mutating func operation(_ node: Node) -> Operation? {
    guard
      let entry = node.entries?.first(where: { $0.key.text != "lint" }),
      let rule = Grammar.operationsByName[entry.key.text]
    else { return nil }
    // The checks of the operation would report misplaced keys as missing.
    let isAstray = node.entries?.contains {
      rule.shape.hasKey($0.key.text) && Grammar.operationsByName[$0.key.text] == nil
    }
    if isAstray == true { return nil }
    // A body that is not a mapping has no keys. The validator has reported it.
    if case .mapping = rule.shape, entry.value.entries == nil { return nil }
    return Operation(
      name: rule.name,
      kind: rule.decode(&self, entry.value),
      position: entry.key.position,
      keys: entry.value.positions,
      expressions: node.expressions(.operation).map { SQLSource($0, in: source) },
      suppressions: suppressions(node["lint"]),
      canonicalForm: CanonicalForm.form(of: node, .operation))
  }

  package func assertion(_ fields: Node) -> Assertion {
    Assertion(
      query: sql(fields["query"]), equals: fields["equals"].map(literal) ?? .null,
      message: fields["message"].map(text), position: fields.position)
  }

  private func suppressions(_ lint: Node?) -> [Suppression] {
    guard let lint else { return [] }
    return lint.elements("allow").map { fields in
      Suppression(
        rule: name(fields["rule"]), reason: name(fields["reason"]),
        until: fields["until"].map(text), position: fields.position)
    }
  }

  // MARK: Scalars

  package func text(_ node: Node) -> String {
    if case .text(let text) = node.scalar?.value { text } else { "" }
  }

  package func name(_ node: Node?) -> String { node.map(text) ?? "" }

  package func names(_ node: Node?) -> [String] { (node?.elements ?? []).map(text) }

  package func flag(_ node: Node?) -> Bool { node?.scalar?.value == .boolean(true) }

  package func choice<Choice: RawRepresentable & CaseIterable>(_ node: Node?) -> Choice?
  where Choice.RawValue == String {
    guard let text = node?.scalar?.text,
      let word = matchingChoice(text, among: Choice.allCases.map(\.word))
    else { return nil }
    return Choice.allCases.first { $0.word == word }
  }

  package func sql(_ node: Node) -> SQLSource {
    guard let scalar = node.scalar else { return SQLSource(text: "", position: node.position) }
    return SQLSource(scalar, in: source)
  }

  package func sql(_ node: Node?) -> SQLSource {
    node.map(sql) ?? SQLSource(text: "", position: Position(line: 1, column: 1))
  }

  package func literal(_ node: Node) -> Literal {
    node["sql"].map { .sql(sql($0)) } ?? .value(value(node))
  }

  /// The value of a scalar or of `{ blob: … }`.
  package func value(_ node: Node) -> Value {
    guard let scalar = node.scalar else { return .blob(bytes(ofHexadecimal: name(node["blob"]))) }
    return switch scalar.value {
    case .null: .null
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let text), .ambiguous(let text): .text(text)
    }
  }

  private func bytes(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue ?? 0 }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }

  // MARK: Shared checks

  /// Reports names that SQLite considers equal.
  package mutating func checkDistinct(_ names: [(name: String, position: Position)], _ what: String)
  {
    var first: [Identifier: Position] = [:]
    for (name, position) in names where !name.isEmpty {
      if let line = first[name]?.line {
        report("duplicate \(what) \(quoted(name)): the first one is on line \(line)", at: position)
      } else {
        first[name] = position
      }
    }
  }

  package mutating func checkRename(from old: String, to node: Node?, _ what: String) {
    guard let node, !old.isEmpty, old == name(node) else { return }
    report("the \(what) already has the name \(quoted(old))", at: node.position)
  }
}
