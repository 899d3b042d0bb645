import Foundation
import SchemaJSONChecking
import SchemaManifest
import SchemaYAML
import SchemaTestPrograms
import Testing

/// A file with a schema, and its decoder.
enum WrittenFile: String, CaseIterable, Sendable {
  case manifest
  case configuration = "config"

  var schema: String {
    switch self {
    case .manifest: JSONSchema.manifest
    case .configuration: JSONSchema.configuration
    }
  }

  func decodingProblems(_ yaml: String) -> [String] {
    switch self {
    case .manifest: problems(yaml)
    case .configuration: configurationProblems(yaml)
    }
  }

  private static let trees = Result {
    try Dictionary(uniqueKeysWithValues: allCases.map { ($0, try JSONTree(parsing: $0.schema)) })
  }

  func checker() throws -> SchemaChecker {
    SchemaChecker(try #require(Self.trees.get()[self]))
  }

  /// The violations of the schema; nil if the document cannot be converted to JSON.
  func schemaProblems(_ yaml: String) throws -> [String]? {
    try (try? JSONTree(ofYAML: yaml)).map { try checker().problems(of: $0) }
  }
}

@Suite("JSON Schema of manifests and of the configuration")
struct JSONSchemaTests {
  @Test("the files in docs are up to date", arguments: WrittenFile.allCases)
  func golden(_ file: WrittenFile) throws {
    let url = repository.appendingPathComponent("docs/\(file.rawValue).schema.json")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try Data(file.schema.utf8).write(to: url)
    }
    let golden = (try? String(contentsOf: url, encoding: .utf8)) ?? "there is no \(url.path)"
    #expect(
      file.schema == golden, "regenerate it: UPDATE_GOLDEN=1 swift test --filter JSONSchemaTests")
  }

  // MARK: Valid documents

  @Test("a manifest with every operation and every key is valid")
  func sample() throws {
    #expect(try WrittenFile.manifest.schemaProblems(everything) == [])
  }

  @Test("the repository's own history is valid")
  func livingExample() throws {
    for manifest in try livingManifests() {
      #expect(try WrittenFile.manifest.schemaProblems(manifest) == [])
    }
    let configuration = try String(
      contentsOf: repository.appendingPathComponent("schemactl.yaml"), encoding: .utf8)
    #expect(try WrittenFile.configuration.schemaProblems(configuration) == [])
  }

  @Test("a configuration with every key is valid")
  func everyConfigurationKey() throws {
    #expect(configurationProblems(wholeConfiguration).isEmpty)
    #expect(try WrittenFile.configuration.schemaProblems(wholeConfiguration) == [])
  }

  @Test("for any change of a manifest, schema and decoder agree about its structure")
  func changes() throws {
    let sample = try JSONTree(ofYAML: everything)
    let rest = try #require(sample.replacing("operations", by: .array([])))
    // Test one operation at a time, because each change decodes the whole manifest again.
    let single = sample.operations.map { JSONTree.object(["operations": .array([$0])]) }
    try expectAgreement(.manifest, [rest] + single, except: beyondShapes)
  }

  @Test("for any change of a configuration, schema and decoder agree")
  func configurationChanges() throws {
    try expectAgreement(.configuration, [JSONTree(ofYAML: wholeConfiguration)], except: [])
  }

  private func expectAgreement(
    _ file: WrittenFile, _ originals: [JSONTree], except beyondShapes: [String]
  ) throws {
    let checker = try file.checker()
    var refusals = 0
    for original in originals {
      #expect(checker.problems(of: original).isEmpty)
      #expect(file.decodingProblems(original.yaml).isEmpty)
      for changed in original.changes {
        let complaints = file.decodingProblems(changed.yaml).filter { complaint in
          !beyondShapes.contains { complaint.contains($0) }
        }
        let found = checker.problems(of: changed)
        #expect(complaints.isEmpty == found.isEmpty, "\(changed.yaml)\n\(complaints)\n\(found)")
        refusals += found.isEmpty ? 0 : 1
      }
    }
    #expect(refusals > 100)
  }

  // MARK: Refused documents

  @Test(
    "a manifest that the decoder refuses for its structure is invalid", arguments: Refusal.shape)
  func shape(_ refusal: Refusal) throws {
    let found = try WrittenFile.manifest.schemaProblems(refusal.yaml)
    #expect((found == []) == Self.onlyInYAML.contains(refusal.title), "\(found ?? [])")
  }

  @Test("exactly one of two alternative keys is valid", arguments: Refusal.meaning)
  func alternatives(_ refusal: Refusal) throws {
    let found = try WrittenFile.manifest.schemaProblems(refusal.yaml)
    #expect((found != []) == Self.alternatives.contains(refusal.title), "\(found ?? [])")
  }

  @Test("a refused configuration is invalid", arguments: Refusal.configuration)
  func configuration(_ refusal: Refusal) throws {
    #expect(try WrittenFile.configuration.schemaProblems(refusal.yaml)?.isEmpty == false)
  }

  @Test("the tables of refusals contain all cases named here")
  func titles() {
    #expect(Self.onlyInYAML.isSubset(of: Refusal.shape.map(\.title)))
    #expect(Self.alternatives.isSubset(of: Refusal.meaning.map(\.title)))
  }

  /// Refusals that depend on YAML, or that a pattern cannot express.
  private static let onlyInYAML: Set<String> = [
    "a name that some take for a boolean", "a key that some take for a boolean",
    "an expression that is not there", "a date that is none", "a NUL in SQL", "a NUL in a name",
    "a NUL in a value", "the time of day as a text",
    "the time of day as a text, in small letters, in a row",
  ]

  private static let alternatives: Set<String> = [
    "an update that says neither where nor all", "an update that says where and all",
    "a delete that says neither where nor all", "a delete that says where and all",
    "all that is not true", "a move with neither map nor using", "a move with map and using",
    "a map that maps nothing", "SQL as a map's target", "dependents other than rename",
  ]

  // MARK: Comparison with another implementation

  @Test("Python's jsonschema, if installed, has the same results")
  func secondOpinion() throws {
    let manifests =
      try [everything] + livingManifests() + Refusal.shape.map(\.yaml) + Refusal.meaning.map(\.yaml)
    let configurations = [wholeConfiguration] + Refusal.configuration.map(\.yaml)
    let cases = try cases(.manifest, manifests) + cases(.configuration, configurations)
    #expect(cases.count > 100)
    #expect(try disagreementsOfPython(cases) == "")
  }

  /// Documents that can be JSON, each with its file and whether it is valid.
  private func cases(_ file: WrittenFile, _ documents: [String]) throws -> [JSONTree] {
    let checker = try file.checker()
    return documents.compactMap { yaml in
      guard let tree = try? JSONTree(ofYAML: yaml), (try? JSONEncoder().encode(tree)) != nil
      else { return nil }
      return .array([.string(file.rawValue), tree, .bool(checker.problems(of: tree).isEmpty)])
    }
  }

  private func livingManifests() throws -> [String] {
    let folder = repository.appendingPathComponent("migrations")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".yaml") }
    #expect(!names.isEmpty)
    return try names.map {
      try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
    }
  }
}

/// The cases for which Python's `jsonschema` has another result; empty if it is not installed.
private func disagreementsOfPython(_ cases: [JSONTree]) throws -> String {
  let script = """
    import json, sys
    try:
        from jsonschema import Draft7Validator
    except ImportError:
        sys.exit()
    folder, cases = sys.argv[1:]
    validators = {}
    for name in ["manifest", "config"]:
        schema = json.load(open(folder + "/" + name + ".schema.json"))
        Draft7Validator.check_schema(schema)
        validators[name] = Draft7Validator(schema)
    for name, instance, fits in json.load(open(cases)):
        if validators[name].is_valid(instance) != fits:
            print(name, json.dumps(instance))
    """
  let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try JSONEncoder().encode(cases).write(to: file)
  defer { try? FileManager.default.removeItem(at: file) }
  let python = Process()
  python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  python.arguments = [
    "python3", "-c", script, repository.appendingPathComponent("docs").path, file.path,
  ]
  let output = Pipe()
  python.standardOutput = output
  python.standardError = output
  try python.run()
  let data = output.fileHandleForReading.readDataToEndOfFile()
  python.waitUntilExit()
  // 127 means that Python is not installed.
  return python.terminationStatus == 127 ? "" : String(decoding: data, as: UTF8.self)
}

/// Parts of messages about errors that a schema cannot express.
private let beyondShapes = [
  "the table has no column", "`mirror` needs", "`map_back` needs", "`map_back` must name",
  "`map_back` must undo",
  "`autoincrement` needs", "changes nothing", "duplicate ", "already has the name",
  "deletes the other rows", "a foreign key needs a parent", "the new column has the name",
  "`dependents` and `keep_source`",
  "a second column with", "the table has a `primary_key`", "it equals the value",
  "must be a single",
]

private let wholeConfiguration = """
  migrations: db/migrations
  database: app.sqlite
  timeout: 2.5
  minimum_sqlite: "3.35.5"
  sync:
    engine: sqlite-data
    tables: [reminders]
    local_tables: [cache]
    since: 0004_sync
    oldest_release: "1.0"
  functions:
    - { name: slug, arguments: 1 }
    - name: any
  collations: [localized]
  lint: { rules: { drop-column: error, missing-strict: off, 'x': Note } }
  ignore: [ "tmp_*" ]

  """

private struct NotJSON: Error {}

extension JSONTree {
  /// The JSON of a YAML document in an editor, by the core schema of YAML 1.2.
  fileprivate init(ofYAML yaml: String) throws {
    guard let root = try YAMLReader.read(Array(yaml.utf8), file: "m.yaml").root else {
      throw NotJSON()
    }
    try self.init(root)
  }

  private init(_ node: Node) throws {
    switch node.content {
    case .sequence(let elements): self = .array(try elements.map { try JSONTree($0) })
    case .mapping(let entries):
      self = .object(
        try Dictionary(
          entries.map { entry in
            guard case .scalar(let key) = entry.keyNode.content else { throw NotJSON() }
            return (key.text, try JSONTree(entry.value))
          }, uniquingKeysWith: { first, _ in first }))
    case .scalar(let scalar):
      switch scalar.value {
      case .null: self = .null
      case .boolean(let value): self = .bool(value)
      case .integer(let value): self = .number(Double(value))
      case .real(let value): self = .number(value)
      case .text(let text): self = .string(text)
      case .ambiguous(let text):
        // As YAML 1.2 reads it.
        let isText = text.first?.isLetter == true || text.contains("_")
        let isWord = [".inf", ".nan"].contains { text.lowercased().hasSuffix($0) }
        self = isText ? .string(text) : .number(isWord ? .infinity : 0)
      }
    }
  }

  fileprivate var operations: [JSONTree] {
    if case .array(let operations) = self["operations"] { operations } else { [] }
  }

  /// Nil if the value is not an object.
  fileprivate func replacing(_ key: String, by value: JSONTree) -> JSONTree? {
    if case .object(let members) = self {
      .object(members.merging([key: value]) { $1 })
    } else {
      nil
    }
  }

  /// The document as YAML, with plain keys, because the keys of a map may be numbers.
  fileprivate var yaml: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let number): number == number.rounded() ? "\(Int64(number))" : "\(number)"
    case .string(let text):
      "\""
        + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        .replacing("\n", with: "\\n") + "\""
    case .array(let elements): "[" + elements.map(\.yaml).joined(separator: ", ") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { "\($0): \($1.yaml)" }.joined(separator: ", ")
        + "}"
    }
  }

  /// The document with one change at each place: a value of another type, a missing key, an unknown
  /// key.
  fileprivate var changes: [JSONTree] {
    let others: [JSONTree] = [
      .null, .bool(true), .number(7), .string("other text"), .string(" "), .array([]), .object([:]),
    ]
    return others.filter { $0 != self } + innerChanges
  }

  private var innerChanges: [JSONTree] {
    switch self {
    case .array(let elements):
      return elements.indices.flatMap { index in
        elements[index].changes.map { change in
          var elements = elements
          elements[index] = change
          return .array(elements)
        }
      }
    case .object(let members):
      var changed: [JSONTree] = []
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        let changes: [JSONTree?] = [nil] + member.changes
        for change in changes {
          var members = members
          members[name] = change
          changed.append(.object(members))
        }
      }
      return changed + [.object(members.merging(["xylophone": .number(1)]) { $1 })]
    default: return []
    }
  }
}
