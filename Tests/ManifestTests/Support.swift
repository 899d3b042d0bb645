import SchemaManifest
import SchemaYAML

/// The messages for a manifest.
func problems(_ yaml: String) -> [String] {
  problems(Array(yaml.utf8))
}

func problems(_ bytes: [UInt8]) -> [String] {
  do {
    _ = try decodeManifest(bytes, file: "m.yaml")
    return []
  } catch {
    return error.diagnostics.map(\.description)
  }
}

func configurationProblems(_ yaml: String) -> [String] {
  do {
    _ = try decodeConfiguration(Array(yaml.utf8), file: "c.yaml")
    return []
  } catch {
    return error.diagnostics.map(\.description)
  }
}

func decoded(_ yaml: String) throws -> Manifest {
  try decodeManifest(Array(yaml.utf8), file: "m.yaml")
}

/// The kind of a manifest's single operation.
func operation(_ yaml: String) throws -> Operation.Kind? {
  try decoded("operations:\n" + yaml).operations.first?.kind
}

/// A manifest with one operation, on line 2.
func manifest(_ operation: String) -> String { "operations:\n  - \(operation)\n" }

/// The text of a value without positions, for comparing decoded values.
func shown(_ value: Any) -> String {
  if let source = value as? SQLSource { return "sql(\(source.text))" }
  if let position = value as? Position { return "\(position.line):\(position.column)" }
  if let text = value as? String { return "'\(text)'" }
  if case .value(let value)? = value as? Literal { return shown(value) }
  let mirror = Mirror(reflecting: value)
  switch mirror.displayStyle {
  case .optional: return mirror.children.first.map { shown($0.value) } ?? "nil"
  case .collection:
    return "[" + mirror.children.map { shown($0.value) }.joined(separator: ", ") + "]"
  case .enum:
    guard let child = mirror.children.first else { return "\(value)" }
    return "\(child.label ?? "")(\(shown(child.value)))"
  case .tuple:
    return mirror.children.map { "\($0.label ?? ""): \(shown($0.value))" }.joined(separator: ", ")
  case .struct where !mirror.children.isEmpty:
    let shownChildren = mirror.children.compactMap { child -> String? in
      let text = shown(child.value)
      let isDefault = ["nil", "[]", "false", "keep"].contains(text) || child.label == "position"
      return isDefault ? nil : "\(child.label ?? ""): \(text)"
    }
    return "{" + shownChildren.joined(separator: ", ") + "}"
  default: return "\(value)"
  }
}

/// Pseudo-random numbers that are equal in each run.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ state >> 33) &* 0xFF51_AFD7_ED55_8CCD
  }
}

/// A manifest with every operation and every key.
let everything = """
  # A comment.
  description: Everything that a manifest can say.
  requires: { sqlite: "3.37" }
  foreign_keys: enforced
  before:
    - query: SELECT count(*) FROM a
      equals: 0
      message: there are rows
  after:
    - { query: "SELECT max(x) FROM a", equals: null }
  lint:
    allow:
      - { rule: drop-column, reason: Nothing syncs., until: 2027-02-28 }
      - { rule: drop-table, reason: It is empty. }
  operations:
    - create_table:
        name: a
        columns:
          - { name: id, type: INTEGER, primary_key: true, autoincrement: true }
          - name: b
            type: TEXT
            not_null: { on_conflict: replace }
            default: ""
            unique: true
            check: length(b) > 0
            collate: NOCASE
            references: { table: p, column: id, on_delete: cascade, on_update: no action, deferrable: true }
          - { name: c, generated: { as: "b || 'x'", stored: true }, not_null: true }
          - { name: d, default: null, not_null: false }
          - { name: e, default: { sql: "uuid()" }, references: { table: p } }
          - { name: f, default: { blob: "00ff" } }
        unique: [[b, c], [d]]
        checks: [ "b <> c", 1 ]
        foreign_keys:
          - { columns: [b, c], table: p, to: [x, y], on_delete: SET NULL, on_update: set_default, deferrable: true }
        strict: true
        without_rowid: false
    - create_table:
        name: k
        columns: [ { name: x }, { name: y } ]
        primary_key: [x, y]
        without_rowid: true
    - drop_table: { table: a }
    - rename_table: { table: a, to: b }
    - add_column: { table: a, column: { name: z, type: REAL, default: 1.5 } }
    - drop_column: { table: a, column: z }
      lint: { allow: [ { rule: drop-column, reason: It is empty. } ] }
    - rename_column: { table: a, from: x, to: y }
    - move_column:
        table: a
        from: x
        to: { name: y, type: INTEGER, not_null: true, default: 0 }
        map: { 0: 0, 1: 1, '1': 1, null: 2, 1.5: 2, true text: 0 }
        keep_source: true
        mirror: true
        map_back: { 0: 0, 1: 1, 2: null }
    - move_column: { table: a, from: x, to: { name: y }, using: upper(x), dependents: rename }
    - alter_column:
        table: a
        column: x
        type: TEXT
        not_null: true
        default: 7
        collate: BINARY
        check: x > 0
        references: { table: p, on_delete: restrict }
        generated: { as: y }
    - alter_column:
        { table: a, column: x, type: null, not_null: false, default: null, collate: null, check: null, references: null, generated: ~ }
    - rebuild_table:
        table: a
        columns: [ { name: x }, { name: y } ]
        primary_key: [x]
        unique: [[y]]
        checks: [x <> y]
        foreign_keys: [ { columns: [x], table: p } ]
        strict: false
        without_rowid: true
        copy: { x: id, y: 0 }
        where: x IS NOT NULL
        rows_may_be_lost: true
    - convert_primary_key: { table: a, to: uuid, uuids: from_integer }
    - create_index:
        name: i
        table: a
        columns: [ x, { column: y, order: desc, collate: NOCASE }, { expression: lower(z), order: asc } ]
        unique: true
        where: x > 0
    - create_view: { name: v, sql: CREATE VIEW v AS SELECT 1 }
    - create_trigger:
        name: t
        sql: |
          CREATE TRIGGER t AFTER INSERT ON a BEGIN
            SELECT 1;
          END
    - create_virtual_table: { name: f, using: fts5, arguments: [ title, "content='a'" ] }
    - drop_index: { name: i }
    - drop_view: { name: v }
    - drop_trigger: { name: t }
    - drop_virtual_table: { name: f }
    - insert:
        table: a
        rows:
          - { x: 1, y: null, z: text }
          - { x: true, y: { sql: uuid() }, z: { blob: "" } }
    - update: { table: a, set: { x: x + 1, y: NULL }, where: x > 0 }
    - update: { table: a, set: { x: 0 }, all: true }
    - delete: { table: a, where: 1 }
    - delete: { table: a, all: true }
    - sql: SELECT 1
    - sql: [ SELECT 1, "SELECT 2; SELECT 3" ]
    - assert: { query: SELECT 1, equals: 1, message: One is one. }

  """
