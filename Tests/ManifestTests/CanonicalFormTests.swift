import SchemaManifest
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("The canonical form")
struct CanonicalFormTests {
  private func form(_ yaml: String) throws -> String {
    String(decoding: try decoded(yaml).canonicalForm, as: UTF8.self)
  }

  @Test("version 1 never changes: these bytes are fixed")
  func frozen() throws {
    let yaml = """
      description: not covered
      requires: { sqlite: "3.37" }
      foreign_keys: enforced
      before: [{ query: select 1 -- one, equals: 1.5 }]
      lint: { allow: [] }
      operations:
        - create_table:
            name: é
            columns:
              - { name: a, type: INTEGER, default: -7, not_null: true, unique: false }
              - { name: b, default: null, references: { table: p, on_delete: SET NULL } }
              - { name: c, default: { blob: 00ff }, check: "c  <>  'x  y'" }
        - drop_table: { table: t }
          lint: { allow: [] }
        - move_column: { table: t, from: a, to: { name: b }, map: { 0: '0', null: 1e3 } }
        - alter_column: { table: t, column: a, check: null, not_null: { on_conflict: Replace } }
        - sql: ["", x].
      """.replacing("[\"\", x].", with: "[Select \"A\" From b, x]")
    let expected = """
      {t10:operations[{t12:create_table{t4:namet2:ét7:columns[\
      {t4:namet1:at4:typet7:INTEGERt6:uniqueb0;t7:defaulti-7;t8:not_nullb1;}\
      {t10:references{t5:tablet1:pt9:on_deletet8:set_null}t4:namet1:bt7:defaultn;}\
      {t4:namet1:ct5:checks1:c2:<>6:'x  y';t7:default{t4:blobt4:00ff}}]}}\
      {t10:drop_table{t5:tablet1:t}}\
      {t11:move_column{t2:to{t4:namet1:b}t3:map{i0;t1:0n;r408f400000000000;}t4:fromt1:at5:tablet1:t}}\
      {t12:alter_column{t5:checkn;t5:tablet1:tt6:columnt1:at8:not_null{t11:on_conflictt7:replace}}}\
      {t3:sql[s6:SELECT3:"A"4:FROM1:b;s1:x;]}]\
      t12:foreign_keyst8:enforced\
      t6:before[{t5:querys6:SELECT1:1;t6:equalsr3ff8000000000000;}]\
      t8:requires{t6:sqlitet4:3.37}}
      """
    #expect(try form(yaml) == expected)
  }

  @Test(
    "layout, comments, key order, quotes and line ends make no difference",
    arguments: seeds(60, of: 200))
  func cosmetic(seed: UInt64) throws {
    let plain = try form(YAMLWriter.write(Self.sample, seed: 0))
    let yaml = YAMLWriter.write(Self.sample, seed: seed)
    #expect(try form(yaml) == plain, "\(yaml)")
  }

  @Test("a change of any value changes the form")
  func everyChange() throws {
    var forms: Set<String> = [try form(YAMLWriter.write(Self.sample, seed: 0))]
    let changes = Self.sample.changes
    #expect(changes.count > 70)
    for change in changes {
      let yaml = YAMLWriter.write(change, seed: 1)
      let inserted = forms.insert(try form(yaml)).inserted
      #expect(inserted, "\(yaml)")
    }
  }

  @Test(
    "keys that are not covered make no difference",
    arguments: [
      "description: something\noperations: []",
      "operations: []\nlint: { allow: [{ rule: r, reason: x }] }",
      "# a comment\noperations: []", "\u{FEFF}operations: []", "operations: # none\n  []",
    ])
  func notCovered(yaml: String) throws {
    #expect(try form(yaml) == "{t10:operations[]}")
  }

  @Test("an explicit default is a different form")
  func writtenDefault() throws {
    #expect(
      try form("operations: []\nforeign_keys: deferred")
        == "{t10:operations[]t12:foreign_keyst8:deferred}")
  }

  @Test("an operation's suppressions are not covered, but other keys are")
  func operationSuppression() throws {
    let with = try decoded(
      "operations:\n  - sql: x\n    lint: { allow: [{ rule: r, reason: x }] }\n")
    let without = try decoded("operations:\n  - sql: x\n")
    #expect(with.canonicalForm == without.canonicalForm)
    #expect(with.operations.map(\.canonicalForm) == [Array("{t3:sqls1:x;}".utf8)])
  }

  @Test(
    "similar texts have different forms",
    arguments: [
      ("'1'", "1"), ("1", "1.0"), ("true", "1"), ("null", "'null'"), ("'a'", "'A'"),
      ("'a'", "'a '"), ("\"\\u00e9\"", "\"e\\u0301\""), ("{ sql: a }", "a"),
      ("{ sql: a }", "{ sql: A }"), ("{ sql: '''a''' }", "{ sql: '\"a\"' }"),
    ])
  func alike(one: String, other: String) throws {
    func form(_ value: String) throws -> [UInt8] {
      try decoded(manifest("insert: { table: t, rows: [{ a: \(value) }] }")).canonicalForm
    }
    #expect(try form(one) != form(other))
  }

  /// Every kind of node; each scalar has an alternative valid value.
  static let sample = YAMLTree.keys([
    ("requires", .keys([("sqlite", .text("3.37", other: "3.38"))])),
    ("foreign_keys", .text("deferred", other: "enforced")),
    (
      "before",
      .list([
        .keys([
          ("query", count), ("equals", .plain("0", other: "1")),
          ("message", .text("there are rows", other: "there are none")),
        ])
      ])
    ),
    ("after", .list([.keys([("query", count), ("equals", .plain("null", other: "0"))])])),
    (
      "operations",
      .list([
        .keys([("create_table", table)]),
        .keys([("drop_table", .keys([("table", name)]))]),
        .keys([("add_column", .keys([("table", name), ("column", column)]))]),
        .keys([("move_column", move)]),
        .keys([
          (
            "create_index",
            .keys([
              ("name", name), ("table", name),
              (
                "columns",
                .list([
                  name,
                  .keys([
                    ("expression", expression), ("order", .text("asc", other: "desc")),
                    ("collate", .text("NOCASE", other: "BINARY")),
                  ]),
                ])
              ), ("unique", .plain("true", other: "false")), ("where", expression),
            ])
          )
        ]),
        .keys([
          (
            "insert",
            .keys([
              ("table", name),
              (
                "rows",
                .list([
                  .map([
                    (.text("a b", other: "c"), .plain("1", other: "2")),
                    (.text("d", other: "e"), .plain("1.5", other: "1.25")),
                    (.text("f", other: "g"), .text("it's\n\"text\" \\", other: "")),
                    (.text("h", other: "i"), .keys([("sql", expression)])),
                    (.text("j", other: "k"), .keys([("blob", .text("00ff", other: "00fe"))])),
                  ])
                ])
              ),
            ])
          )
        ]),
        .keys([
          (
            "update",
            .keys([
              ("table", name), ("set", .map([(.text("a", other: "b"), expression)])),
              ("where", expression),
            ])
          )
        ]),
        .keys([("sql", .list([count, statement]))]),
      ])
    ),
  ])

  private static let name = YAMLTree.text("reminders", other: "reminder_lists")
  private static let expression = YAMLTree.sql(
    "a<>'x  y' AND b", same: "a  <> /* not */ 'x  y'\n  and b -- c", other: "a<>'x y' AND b")
  private static let count = YAMLTree.sql(
    "SELECT count(*) FROM a", same: "select count( * )\nfrom a", other: "SELECT count(*) FROM A")
  private static let statement = YAMLTree.sql(
    "DELETE FROM \"a\"; SELECT 1", same: "delete from \"a\" ;\nSELECT 1",
    other: "DELETE FROM a; SELECT 1")

  private static let column = YAMLTree.keys([
    ("name", name), ("type", .text("TEXT", other: "text")),
    ("default", .plain("7", other: "8")),
    ("not_null", .keys([("on_conflict", .text("replace", other: "fail"))])),
    ("check", expression), ("collate", .text("NOCASE", other: "RTRIM")),
    (
      "references",
      .keys([
        ("table", name), ("column", name), ("on_delete", .text("cascade", other: "set null")),
        ("deferrable", .plain("true", other: "false")),
      ])
    ),
  ])

  private static let table = YAMLTree.keys([
    ("name", name), ("columns", .list([column])),
    ("checks", .list([expression])), ("strict", .plain("true", other: "false")),
    ("without_rowid", .plain("False", other: "True")),
  ])

  private static let move = YAMLTree.keys([
    ("table", name), ("from", .text("old", other: "older")), ("to", column),
    (
      "map",
      .map([
        (.plain("0", other: "3"), .plain("0", other: "'0'")),
        (.plain("1", other: "'1'"), .plain("1", other: "-1")),
        (.plain("null", other: "2"), .text("none", other: "null")),
      ])
    ),
  ])
}
