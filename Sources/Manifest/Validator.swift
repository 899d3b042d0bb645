import SchemaSQLText

/// Compares nodes with the shapes that they must have, and reports every difference.
package struct Validator {
  private let file: String
  package private(set) var diagnostics: [Diagnostic] = []

  package init(file: String) {
    self.file = file
  }

  /// The part of a file that a message is about.
  package struct Subject {
    /// The name or key of the subject.
    let name: String
    let text: String

    package static func whole(_ name: String) -> Subject { Subject(name: name, text: name) }
    static func key(_ name: String) -> Subject { Subject(name: name, text: quoted(name)) }

    static func entry(of list: String) -> Subject {
      Subject(name: list, text: "an entry of \(quoted(list))")
    }

    static func keyIn(_ mapping: String) -> Subject {
      Subject(name: mapping, text: "a key of \(quoted(mapping))")
    }

    static func value(of key: String) -> Subject {
      Subject(name: key, text: "the value of \(quoted(key))")
    }
  }

  /// - Parameter meant: the key or word that the author probably meant.
  private mutating func report(_ message: String, meant: String? = nil, at position: Position) {
    diagnostics.append(
      Diagnostic(file: file, position: position, message: message, meant: meant))
  }

  package mutating func check(_ node: Node, _ shape: Shape, _ subject: Subject) {
    switch shape {
    case .list(let element, let atLeast):
      guard let elements = node.elements else { return wrongKind(node, shape, subject) }
      if elements.count < atLeast {
        report(
          elements.isEmpty
            ? "\(subject.text) is empty: it needs at least one entry"
            : "\(subject.text) needs at least \(atLeast) entries", at: node.position)
      }
      for node in elements { check(node, element, .entry(of: subject.name)) }
    case .oneOrMany(let element):
      guard node.elements == nil else {
        return check(node, .list(of: element, atLeast: 1), subject)
      }
      check(node, element, subject)
    case .mapping(let rule):
      checkMapping(node, rule, shape, subject)
    case .map(let key, let value, let atLeast):
      guard let entries = node.entries else { return wrongKind(node, shape, subject) }
      if entries.count < atLeast {
        report("\(subject.text) is empty: it needs at least one key", at: node.position)
      }
      for entry in entries {
        check(entry.keyNode, key, .keyIn(subject.name))
        check(entry.value, value, .value(of: entry.key.text))
      }
    case .nullable(let inner):
      if !node.isNull { check(node, inner, subject) }
    case .either(.consent, _) where node.entries == nil && node.scalar?.value != .boolean(true):
      wrongKind(node, shape, subject)
    case .either(let short, let rule):
      node.entries == nil ? check(node, short, subject) : checkMapping(node, rule, shape, subject)
    case .literal where node.entries != nil, .columnDefault where node.entries != nil:
      checkMapping(node, Grammar.literal, shape, subject)
    case .constant where node.entries != nil:
      checkConstant(node, subject)
    case .operation:
      checkOperation(node)
    default:
      guard let scalar = node.scalar else { return wrongKind(node, shape, subject) }
      checkScalar(scalar, shape, subject)
    }
  }

  // MARK: Mappings

  private mutating func checkMapping(
    _ node: Node, _ rule: MappingRule, _ shape: Shape, _ subject: Subject
  ) {
    guard let entries = node.entries else { return wrongKind(node, shape, subject) }
    // A misspelt key counts as present, so that it is not also reported as missing.
    var present = Set(entries.map { ExactText($0.key.text) })
    for entry in entries where isSingle(entry.keyNode) {
      if let key = rule.key(entry.key.text) {
        check(entry.value, key.shape, .key(key.name))
      } else if let meant = unknownKey(entry.key, in: rule) {
        present.insert(meant)
      }
    }
    for key in rule.keys where key.isRequired && !present.contains(key.name) {
      report("\(rule.name) needs \(quoted(key.name))", at: node.position)
    }
    checkExactlyOne(of: rule, entries, present, at: node.position)
  }

  private mutating func isSingle(_ key: Node) -> Bool {
    if key.scalar == nil {
      report("a key must be a single value, not a list or a mapping", at: key.position)
    }
    return key.scalar != nil
  }

  private mutating func checkExactlyOne(
    of rule: MappingRule, _ entries: [Node.Entry], _ present: Set<ExactText>,
    at position: Position
  ) {
    guard !rule.exactlyOneOf.isEmpty else { return }
    let names = rule.exactlyOneOf.map { name in
      if case .consent = rule.key(name)?.shape { "`\(name): true`" } else { "`\(name)`" }
    }
    let alternatives = entries.filter { rule.exactlyOneOf.contains($0.key.text) }
    if !rule.exactlyOneOf.contains(where: present.contains) {
      report("\(rule.name) needs \(listed(names, "or"))", at: position)
    } else if alternatives.count > 1 {
      report(
        "\(rule.name) takes \(listed(names, "or")), not both", at: alternatives[1].key.position)
    }
  }

  /// Reports an unknown key. Returns the key that the author probably meant.
  private mutating func unknownKey(_ key: Scalar, in rule: MappingRule) -> String? {
    let known = rule.keys.map(\.name)
    let meant = suggestion(for: key.text, among: known)
    let problem =
      "unknown key \(quoted(key.text)) in \(rule.name), which takes "
      + listed(known.map { "`\($0)`" }, "and")
    if key.text.contains(where: "()'".contains) {
      report(
        problem + ". Within { } a text ends at a comma: quote a text that contains a comma",
        at: key.position)
    } else {
      report(problem, meant: meant, at: key.position)
    }
    return meant
  }

  private mutating func unknownOperation(_ key: Scalar) {
    let known = Grammar.operations.map(\.name)
    let meant = suggestion(for: key.text, among: known)
    let list = ". The operations are \(listed(known.map { "`\($0)`" }, "and"))"
    report(
      "unknown operation \(quoted(key.text))\(meant == nil ? list : "")", meant: meant,
      at: key.position)
  }

  private mutating func checkConstant(_ node: Node, _ subject: Subject) {
    if let entry = node.entries?.first(where: { $0.key.text == "sql" }) {
      return report(
        "\(subject.text) must not be SQL: use `using` for an expression",
        at: entry.key.position)
    }
    checkMapping(node, Grammar.constant, .constant, subject)
  }

  private mutating func checkOperation(_ node: Node) {
    guard let entries = node.entries else {
      return wrongKind(node, .operation, .whole("an operation"))
    }
    for entry in entries where entry.key.text == "lint" {
      check(entry.value, .mapping(Grammar.lint), .key("lint"))
    }
    let named = entries.filter { $0.key.text != "lint" && isSingle($0.keyNode) }
    guard let first = named.first else {
      return report("an entry of `operations` needs an operation", at: node.position)
    }
    let rest = named.dropFirst()
    guard let rule = Grammar.operationsByName[first.key.text] else {
      unknownOperation(first.key)
      return rest.forEach { notInOneEntry($0, with: first) }
    }
    let astray = rest.filter { rule.isMisplacedKey($0, from: first.value) }
    for entry in rest where !astray.contains(where: { $0.key.position == entry.key.position }) {
      notInOneEntry(entry, with: first)
    }
    belongs(astray, under: first)
    // Check the body together with its misplaced keys, so that only keys that are really missing are
    // reported.
    check(first.value.adding(astray), rule.shape, .key(first.key.text))
  }

  private mutating func notInOneEntry(_ entry: Node.Entry, with first: Node.Entry) {
    let name = entry.key.text
    let start =
      "an entry of `operations` has one operation, and \(quoted(first.key.text)) is already here: "
    if let rule = Grammar.operationsByName[name] {
      report(start + "put a `-` before \(quoted(name))", at: entry.key.position)
      check(entry.value, rule.shape, .key(name))
    } else {
      report(
        start + "\(quoted(name)) is neither one of its keys nor an operation",
        at: entry.key.position)
    }
  }

  /// Reports the most common indentation error: keys of an operation at the level of its name.
  private mutating func belongs(_ astray: [Node.Entry], under operation: Node.Entry) {
    guard let first = astray.first else { return }
    let keys = listed(astray.map { quoted($0.key.text) }, "and")
    let (verb, them) = astray.count == 1 ? ("belongs", "it") : ("belong", "them")
    report(
      "\(keys) \(verb) inside \(quoted(operation.key.text)): indent \(them) further, or put \(them) "
        + "into its braces", at: first.key.position)
  }

  // MARK: Scalars

  private mutating func checkScalar(_ scalar: Scalar, _ shape: Shape, _ subject: Subject) {
    switch shape {
    case .text(let rule): checkText(scalar, rule, subject)
    case .sql, .expression:
      if TokenizedSQL(scalar.text).significant.isEmpty {
        report("\(subject.text) is empty: it must be SQL", at: scalar.position)
      } else if case .expression = shape, !scalar.text.utf8.contains(0),
        let complaint = complaint(aboutExpression: scalar.text)
      {
        report("\(subject.text) \(complaint)", at: scalar.position)
      }
      checkNUL(scalar, subject, "SQL cannot hold it")
    case .script:
      // An empty text is probably a mistake.
      if scalar.text.isEmpty {
        report("\(subject.text) is empty: it must be SQL", at: scalar.position)
      }
      checkNUL(scalar, subject, "SQL cannot hold it")
    case .literal, .columnDefault, .constant:
      if let message = scalar.value.ambiguity {
        report("\(subject.text): \(message)", at: scalar.position)
      }
      if let advice = scalar.adviceAboutExpression(as: shape) {
        report("\(subject.text): \(advice)", at: scalar.position)
      }
      checkNUL(scalar, subject, "use { blob: … }")
    case .boolean:
      guard case .boolean = scalar.value else { return wrongKind(scalar, shape, subject) }
    case .consent:
      guard scalar.value == .boolean(true) else { return wrongKind(scalar, shape, subject) }
    case .integer(let range):
      guard case .integer(let value) = scalar.value else {
        return wrongKind(scalar, shape, subject)
      }
      if !range.contains(value) {
        report(
          "\(subject.text) must be from \(range.lowerBound) to \(range.upperBound), not \(value)",
          at: scalar.position)
      }
    case .number(let range):
      guard let value = scalar.value.number else { return wrongKind(scalar, shape, subject) }
      if !range.contains(value) {
        report(
          "\(subject.text) must be from \(shown(range.lowerBound)) to \(shown(range.upperBound)), "
            + "not \(abbreviated(scalar.text))", at: scalar.position)
      }
    case .choice(let choices):
      checkChoice(scalar, choices, subject)
    default:
      wrongKind(scalar, shape, subject)
    }
  }

  private mutating func checkText(_ scalar: Scalar, _ rule: TextRule, _ subject: Subject) {
    if scalar.style == .plain, scalar.text.isEmpty {
      return report("\(subject.text) is empty: it must be \(rule.noun)", at: scalar.position)
    }
    if let kind = scalar.value.kindOtherThanText {
      let shown = abbreviated(scalar.text)
      return report(
        "\(subject.text) must be \(rule.noun), and `\(shown)` is \(kind): quote it ('\(shown)')",
        at: scalar.position)
    }
    checkNUL(scalar, subject, "a text cannot hold it")
    if let complaint = rule.complaint(about: scalar.text) {
      report("\(subject.text) \(complaint)", at: scalar.position)
    }
  }

  private mutating func checkNUL(_ scalar: Scalar, _ subject: Subject, _ advice: String) {
    if scalar.text.utf8.contains(0) {
      report("\(subject.text) contains the character NUL: \(advice)", at: scalar.position)
    }
  }

  private mutating func checkChoice(
    _ scalar: Scalar, _ choices: [String], _ subject: Subject
  ) {
    guard matchingChoice(scalar.text, among: choices) == nil else { return }
    let shown = listed(choices.map { "`\($0)`" }, "or")
    if scalar.text.isEmpty {
      return report("\(subject.text) is empty: it must be \(shown)", at: scalar.position)
    }
    // YAML 1.1 reads `no`, `false` and `off` as the same value.
    let meansOff = choices.contains("off") && ["no", "false"].contains(scalar.text.lowercased())
    let word = meansOff ? "off" : scalar.text
    let near = choices.count > 1 ? suggestion(for: word, among: choices) : nil
    report(
      "\(subject.text) must be \(shown), not \(quoted(scalar.text))", meant: near,
      at: scalar.position)
  }

  // MARK: Wrong kinds

  private mutating func wrongKind(_ scalar: Scalar, _ shape: Shape, _ subject: Subject) {
    wrongKind(Node(scalar), shape, subject)
  }

  private mutating func wrongKind(_ node: Node, _ shape: Shape, _ subject: Subject) {
    if let scalar = node.scalar, scalar.style == .plain, scalar.text.isEmpty {
      report("\(subject.text) is empty: it must be \(shape.noun)", at: node.position)
    } else {
      let advice =
        if case .list = shape, node.entries != nil {
          ": put `- ` before each \(subject.name == "operations" ? "operation" : "entry")"
        } else {
          ""
        }
      report(
        "\(subject.text) must be \(shape.noun), not \(node.noun)\(advice)", at: node.position)
    }
  }
}

extension ScalarValue {
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }
}

extension OperationRule {
  /// Whether an entry next to the operation's name is one of its keys, and the body does not contain that
  /// key.
  fileprivate func isMisplacedKey(_ entry: Node.Entry, from body: Node) -> Bool {
    guard case .mapping(let rule) = shape, rule.key(entry.key.text) != nil,
      body.isNull || body.entries != nil
    else { return false }
    return !(body.entries ?? []).contains { $0.key.text == entry.key.text }
  }
}

extension Node {
  /// The mapping with more entries. Null counts as an empty mapping.
  fileprivate func adding(_ more: [Entry]) -> Node {
    more.isEmpty ? self : Node(.mapping((entries ?? []) + more), at: position)
  }
}
