import Testing

/// A text with all expected messages.
struct Refusal: Sendable, CustomTestStringConvertible {
  let title: String
  let yaml: String
  let problems: [String]

  init(_ title: String, _ yaml: String, _ problems: [String]) {
    self.title = title
    self.yaml = yaml
    self.problems = problems
  }

  var testDescription: String { title }
}

@Suite("Diagnostics")
struct DiagnosticTests {
  @Test(
    "a manifest with an invalid structure is refused, with place and reason",
    arguments: Refusal.shape)
  func shape(_ refusal: Refusal) {
    #expect(problems(refusal.yaml) == refusal.problems)
  }

  @Test("a manifest with invalid values is refused", arguments: Refusal.meaning)
  func meaning(_ refusal: Refusal) {
    #expect(problems(refusal.yaml) == refusal.problems)
  }

  @Test("unsupported YAML is refused", arguments: Refusal.yaml)
  func yaml(_ refusal: Refusal) {
    #expect(problems(refusal.yaml) == refusal.problems)
  }

  @Test("all problems of a file are reported in one run, by position", arguments: Refusal.many)
  func many(_ refusal: Refusal) {
    #expect(problems(refusal.yaml) == refusal.problems)
  }

  @Test(
    "an invalid configuration is refused, with place and reason",
    arguments: Refusal.configuration)
  func configuration(_ refusal: Refusal) {
    #expect(configurationProblems(refusal.yaml) == refusal.problems)
  }
}

extension Refusal {
  static let shape = [
    Refusal(
      "an unknown key, with the nearest known one",
      manifest("drop_column: { tabel: t, column: c }"),
      [
        "m.yaml:2:20: error: unknown key `tabel` in `drop_column`, which takes `table` and `column`: did you mean `table`?"
      ]),
    Refusal(
      "an unknown key that resembles none",
      manifest("drop_table: { table: t, xylophone: 1 }"),
      [
        "m.yaml:2:29: error: unknown key `xylophone` in `drop_table`, which takes `table`"
      ]),
    Refusal(
      "the rest of a text that holds a comma within braces",
      manifest("drop_table: { table: t IN (0,1) }"),
      [
        "m.yaml:2:34: error: unknown key `1)` in `drop_table`, which takes `table`. Within { } a "
          + "text ends at a comma: quote a text that contains a comma"
      ]),
    Refusal(
      "a missing key",
      manifest("rename_column: { table: t }"),
      [
        "m.yaml:2:20: error: `rename_column` needs `from`",
        "m.yaml:2:20: error: `rename_column` needs `to`",
      ]),
    Refusal(
      "an unknown top-level key",
      "operation: []\n",
      [
        "m.yaml:1:1: error: unknown key `operation` in a manifest, which takes `description`, `operations`, `before`, `after`, `foreign_keys`, `requires`, `replaces` and `lint`: did you mean `operations`?"
      ]),
    Refusal(
      "a manifest that is a list",
      "- sql: SELECT 1\n",
      [
        "m.yaml:1:1: error: a manifest must be a mapping with `operations`, not a list"
      ]),
    Refusal(
      "a manifest that is text",
      "SELECT 1\n",
      [
        "m.yaml:1:1: error: a manifest must be a mapping with `operations`, not the text `SELECT 1`"
      ]),
    Refusal(
      "operations that are no list",
      "operations: { sql: SELECT 1 }\n",
      [
        "m.yaml:1:13: error: `operations` must be a list, not a mapping: put `- ` before each operation"
      ]),
    Refusal(
      "operations that are not there",
      "operations:\n",
      [
        "m.yaml:1:12: error: `operations` is empty: it must be a list"
      ]),
    Refusal(
      "an operation that is text",
      manifest("SELECT 1"),
      [
        "m.yaml:2:5: error: an operation must be a mapping such as `drop_table: { table: … }`, not the text `SELECT 1`"
      ]),
    Refusal(
      "an unknown operation",
      manifest("add_colum: { table: t, column: { name: c } }"),
      [
        "m.yaml:2:5: error: unknown operation `add_colum`: did you mean `add_column`?"
      ]),
    Refusal(
      "two operations in one entry",
      "operations:\n  - sql: SELECT 1\n    drop_table: { table: t }\n",
      [
        "m.yaml:3:5: error: an entry of `operations` has one operation, and `sql` is already here: put a `-` before `drop_table`"
      ]),
    Refusal(
      "an operation's key at the level of its name",
      "operations:\n  - add_column:\n    table: t\n    column: { nam: c }\n",
      [
        "m.yaml:3:5: error: `table` and `column` belong inside `add_column`: indent them further, or put them into its braces",
        "m.yaml:4:15: error: unknown key `nam` in a column, which takes `name`, `type`, `primary_key`, `autoincrement`, `not_null`, `default`, `unique`, `check`, `collate`, `references` and `generated`: did you mean `name`?",
      ]),
    Refusal(
      "one of an operation's keys at the level of its name",
      "operations:\n  - add_column:\n        column: { name: c }\n    table: t\n",
      [
        "m.yaml:4:5: error: `table` belongs inside `add_column`: indent it further, or put it into its braces"
      ]),
    Refusal(
      "an operation's keys at the level of its name, one of them missing",
      "operations:\n  - rename_column:\n    table: t\n    to: b\n",
      [
        "m.yaml:2:19: error: `rename_column` needs `from`",
        "m.yaml:3:5: error: `table` and `to` belong inside `rename_column`: indent them further, or put them into its braces",
      ]),
    Refusal(
      "an operation's key beside its braces",
      "operations: [ { add_column: { column: { name: c } }, table: t } ]\n",
      [
        "m.yaml:1:54: error: `table` belongs inside `add_column`: indent it further, or put it into its braces"
      ]),
    Refusal(
      "an operation that another one has for a key",
      "operations:\n  - create_view: { name: v, sql: CREATE VIEW v AS SELECT 1 }\n    sql: SELECT 1\n",
      [
        "m.yaml:3:5: error: an entry of `operations` has one operation, and `create_view` is already here: put a `-` before `sql`"
      ]),
    Refusal(
      "what is neither an operation nor a key of one",
      "operations:\n  - drop_table: { table: t }\n    tabel: t\n",
      [
        "m.yaml:3:5: error: an entry of `operations` has one operation, and `drop_table` is already here: `tabel` is neither one of its keys nor an operation"
      ]),
    Refusal(
      "the time of day as a text",
      manifest("add_column: { table: t, column: { name: c, default: CURRENT_TIMESTAMP } }"),
      [
        "m.yaml:2:57: error: `default`: `CURRENT_TIMESTAMP` would be stored as a text: write `{ sql: CURRENT_TIMESTAMP }` for the expression, or `\"CURRENT_TIMESTAMP\"` for the text"
      ]),
    Refusal(
      "the time of day as a text, in small letters, in a row",
      manifest("insert: { table: t, rows: [ { a: current_date, b: 'CURRENT_TIME' } ] }"),
      [
        "m.yaml:2:38: error: the value of `a`: `current_date` would be stored as a text: write `{ sql: current_date }` for the expression, or `\"current_date\"` for the text"
      ]),
    Refusal(
      "an entry that only holds lint",
      manifest("lint: { allow: [] }"),
      [
        "m.yaml:2:5: error: an entry of `operations` needs an operation"
      ]),
    Refusal(
      "an operation without its body",
      manifest("drop_table:"),
      [
        "m.yaml:2:16: error: `drop_table` is empty: it must be a mapping with `table`"
      ]),
    Refusal(
      "an operation with a name for its body",
      manifest("drop_table: users"),
      [
        "m.yaml:2:17: error: `drop_table` must be a mapping with `table`, not the text `users`"
      ]),
    Refusal(
      "a list where a name belongs",
      manifest("drop_table: { table: [a, b] }"),
      [
        "m.yaml:2:26: error: `table` must be a name, not a list"
      ]),
    Refusal(
      "a mapping where a name belongs",
      manifest("drop_table: { table: { name: a } }"),
      [
        "m.yaml:2:26: error: `table` must be a name, not a mapping"
      ]),
    Refusal(
      "a number where a name belongs",
      manifest("drop_table: { table: 7 }"),
      [
        "m.yaml:2:26: error: `table` must be a name, and `7` is a number: quote it ('7')"
      ]),
    Refusal(
      "a boolean where a name belongs",
      manifest("drop_table: { table: true }"),
      [
        "m.yaml:2:26: error: `table` must be a name, and `true` is a boolean: quote it ('true')"
      ]),
    Refusal(
      "null where a name belongs",
      manifest("drop_table: { table: null }"),
      [
        "m.yaml:2:26: error: `table` must be a name, and `null` is null: quote it ('null')"
      ]),
    Refusal(
      "nothing where a name belongs",
      manifest("drop_table: { table: }"),
      [
        "m.yaml:2:26: error: `table` is empty: it must be a name"
      ]),
    Refusal(
      "an empty name",
      manifest("drop_table: { table: '' }"),
      [
        "m.yaml:2:26: error: `table` is empty: it must be a name"
      ]),
    Refusal(
      "a name that some take for a boolean",
      manifest("drop_column: { table: t, column: on }"),
      [
        "m.yaml:2:38: error: `column` must be a name, and `on` is not text to every YAML reader: quote it ('on')"
      ]),
    Refusal(
      "a key that some take for a boolean",
      manifest("update: { table: t, set: { no: 1 }, all: true }"),
      [
        "m.yaml:2:32: error: a key of `set` must be a name, and `no` is not text to every YAML reader: quote it ('no')"
      ]),
    Refusal(
      "a name where a boolean belongs",
      manifest("create_table: { name: t, columns: [{ name: a, unique: yes }] }"),
      [
        "m.yaml:2:59: error: `unique` must be true or false, not `yes`"
      ]),
    Refusal(
      "a number where a boolean belongs",
      manifest("create_table: { name: t, columns: [{ name: a, unique: 1 }] }"),
      [
        "m.yaml:2:59: error: `unique` must be true or false, not the number `1`"
      ]),
    Refusal(
      "a name where a list belongs",
      "operations:\n  - create_table:\n      name: t\n      columns: [{ name: a }]\n      primary_key: a\n",
      [
        "m.yaml:5:20: error: `primary_key` must be a list, not the text `a`"
      ]),
    Refusal(
      "a table without columns",
      manifest("create_table: { name: t, columns: [] }"),
      [
        "m.yaml:2:39: error: `columns` is empty: it needs at least one entry"
      ]),
    Refusal(
      "a wrong choice",
      "operations: []\nforeign_keys: enforce\n",
      [
        "m.yaml:2:15: error: `foreign_keys` must be `deferred` or `enforced`, not `enforce`: did you mean `enforced`?"
      ]),
    Refusal(
      "an empty choice",
      "operations: []\nforeign_keys:\n",
      [
        "m.yaml:2:14: error: `foreign_keys` is empty: it must be `deferred` or `enforced`"
      ]),
    Refusal(
      "a wrong foreign key action",
      manifest(
        "create_table: { name: t, columns: [{ name: a, references: { table: p, on_delete: delete } }] }"
      ),
      [
        "m.yaml:2:86: error: `on_delete` must be `no_action`, `restrict`, `set_null`, `set_default` or `cascade`, not `delete`"
      ]),
    Refusal(
      "a conversion to something else",
      manifest("convert_primary_key: { table: t, to: guid, uuids: from_integer }"),
      [
        "m.yaml:2:42: error: `to` must be `uuid`, not `guid`"
      ]),
    Refusal(
      "a conversion that does not say how",
      manifest("convert_primary_key: { table: t, to: uuid }"),
      [
        "m.yaml:2:26: error: `convert_primary_key` needs `uuids`"
      ]),
    Refusal(
      "a not_null that is neither boolean nor mapping",
      manifest("create_table: { name: t, columns: [{ name: a, not_null: always }] }"),
      [
        "m.yaml:2:61: error: `not_null` must be true or false, not the text `always`"
      ]),
    Refusal(
      "a not_null with an unknown conflict action",
      manifest(
        "create_table: { name: t, columns: [{ name: a, not_null: { on_conflict: retry } }] }"),
      [
        "m.yaml:2:76: error: `on_conflict` must be `rollback`, `abort`, `fail`, `ignore` or `replace`, not `retry`"
      ]),
    Refusal(
      "a value with both sql and blob",
      manifest(
        "create_table: { name: t, columns: [{ name: a, default: { sql: 1, blob: '00' } }] }"),
      [
        "m.yaml:2:70: error: a value takes `sql` or `blob`, not both"
      ]),
    Refusal(
      "a value with neither",
      manifest("create_table: { name: t, columns: [{ name: a, default: {} }] }"),
      [
        "m.yaml:2:60: error: a value needs `sql` or `blob`"
      ]),
    Refusal(
      "a value that is a list",
      manifest("create_table: { name: t, columns: [{ name: a, default: [1] }] }"),
      [
        "m.yaml:2:60: error: `default` must be a value, not a list"
      ]),
    Refusal(
      "a blob with an odd digit",
      manifest("create_table: { name: t, columns: [{ name: a, default: { blob: abc } }] }"),
      [
        "m.yaml:2:68: error: `blob` must be two hexadecimal digits for each byte, not `abc`"
      ]),
    Refusal(
      "a blob that is a number",
      manifest("create_table: { name: t, columns: [{ name: a, default: { blob: 12 } }] }"),
      [
        "m.yaml:2:68: error: `blob` must be hexadecimal digits, and `12` is a number: quote it ('12')"
      ]),
    Refusal(
      "an empty expression",
      manifest("delete: { table: t, where: '  ' }"),
      [
        "m.yaml:2:32: error: `where` is empty: it must be SQL"
      ]),
    Refusal(
      "an expression that is not there",
      manifest("delete: { table: t, where: }"),
      [
        "m.yaml:2:32: error: `where` is empty: it must be SQL"
      ]),
    Refusal(
      "sql that is a mapping",
      manifest("sql: { statements: SELECT 1 }"),
      [
        "m.yaml:2:10: error: `sql` must be SQL, not a mapping"
      ]),
    Refusal(
      "sql without statements",
      manifest("sql: []"),
      [
        "m.yaml:2:10: error: `sql` is empty: it needs at least one entry"
      ]),
    Refusal(
      "empty sql",
      manifest("sql: ''"),
      [
        "m.yaml:2:10: error: `sql` is empty: it must be SQL"
      ]),
    Refusal(
      "one empty text among sql",
      manifest("sql: [SELECT 1, '']"),
      [
        "m.yaml:2:21: error: an entry of `sql` is empty: it must be SQL"
      ]),
    Refusal(
      "an index without columns",
      manifest("create_index: { name: i, table: t, columns: [] }"),
      [
        "m.yaml:2:49: error: `columns` is empty: it needs at least one entry"
      ]),
    Refusal(
      "an indexed column with neither column nor expression",
      manifest("create_index: { name: i, table: t, columns: [{ order: asc }] }"),
      [
        "m.yaml:2:50: error: an indexed column needs `column` or `expression`"
      ]),
    Refusal(
      "an indexed column with both",
      manifest("create_index: { name: i, table: t, columns: [{ column: a, expression: b }] }"),
      [
        "m.yaml:2:63: error: an indexed column takes `column` or `expression`, not both"
      ]),
    Refusal(
      "an unknown order",
      manifest("create_index: { name: i, table: t, columns: [{ column: a, order: down }] }"),
      [
        "m.yaml:2:70: error: `order` must be `asc` or `desc`, not `down`"
      ]),
    Refusal(
      "an insert of nothing",
      manifest("insert: { table: t, rows: [] }"),
      [
        "m.yaml:2:31: error: `rows` is empty: it needs at least one entry"
      ]),
    Refusal(
      "a row with no columns",
      manifest("insert: { table: t, rows: [{}] }"),
      [
        "m.yaml:2:32: error: an entry of `rows` is empty: it needs at least one key"
      ]),
    Refusal(
      "an update of nothing",
      manifest("update: { table: t, set: {}, all: true }"),
      [
        "m.yaml:2:30: error: `set` is empty: it needs at least one key"
      ]),
    Refusal(
      "a version that YAML takes for a number",
      "operations: []\nrequires: { sqlite: 3.40 }\n",
      [
        "m.yaml:2:21: error: `sqlite` must be a version, and `3.40` is a number: quote it ('3.40')"
      ]),
    Refusal(
      "a version that is none",
      "operations: []\nrequires: { sqlite: latest }\n",
      [
        "m.yaml:2:21: error: `sqlite` must be a version of SQLite such as '3.37' or '3.37.2', not `latest`"
      ]),
    Refusal(
      "a date that is none",
      "operations: []\nlint: { allow: [{ rule: r, reason: x, until: 2027-02-29 }] }\n",
      [
        "m.yaml:2:46: error: `until` must be a date such as 2027-01-31, not `2027-02-29`"
      ]),
    Refusal(
      "a suppression without a rule",
      "operations: []\nlint: { allow: [{ reason: x }] }\n",
      [
        "m.yaml:2:17: error: a suppression needs `rule`"
      ]),
    Refusal(
      "a suppression without a reason",
      "operations: []\nlint: { allow: [{ rule: r }, { rule: r, reason: ' ' }] }\n",
      [
        "m.yaml:2:17: error: a suppression needs `reason`",
        "m.yaml:2:49: error: `reason` is empty: it must be text",
      ]),
    Refusal(
      "a NUL in SQL",
      manifest("sql: \"SELECT \\0\""),
      [
        "m.yaml:2:10: error: `sql` contains the character NUL: SQL cannot hold it"
      ]),
    Refusal(
      "a NUL in a name",
      manifest("drop_table: { table: \"a\\0\" }"),
      [
        "m.yaml:2:26: error: `table` contains the character NUL: a text cannot hold it"
      ]),
    Refusal(
      "a NUL in a value",
      manifest("insert: { table: t, rows: [{ a: \"x\\0y\" }] }"),
      [
        "m.yaml:2:37: error: the value of `a` contains the character NUL: use { blob: … }"
      ]),
    Refusal(
      "long and many-lined text is abbreviated",
      manifest(
        "create_table: { name: t, columns: [{ name: a, unique: \"one\\ntwo and then a good deal more than forty\" }] }"
      ),
      [
        "m.yaml:2:59: error: `unique` must be true or false, not the text `one\\ntwo and then a good deal more than f…`"
      ]),
    Refusal(
      "a misspelt alternative",
      manifest("delete: { table: t, wher: a }"),
      [
        "m.yaml:2:25: error: unknown key `wher` in `delete`, which takes `table`, `where` and `all`: did you mean `where`?"
      ]),
  ]

  static let meaning = [
    Refusal(
      "an update that says neither where nor all",
      manifest("update: { table: t, set: { a: 1 } }"),
      [
        "m.yaml:2:13: error: `update` needs `where` or `all: true`"
      ]),
    Refusal(
      "an update that says where and all",
      manifest("update: { table: t, set: { a: 1 }, where: a > 1, all: true }"),
      [
        "m.yaml:2:54: error: `update` takes `where` or `all: true`, not both"
      ]),
    Refusal(
      "a delete that says neither where nor all",
      manifest("delete: { table: t }"),
      [
        "m.yaml:2:13: error: `delete` needs `where` or `all: true`"
      ]),
    Refusal(
      "a delete that says where and all",
      manifest("delete: { table: t, all: true, where: a > 1 }"),
      [
        "m.yaml:2:36: error: `delete` takes `where` or `all: true`, not both"
      ]),
    Refusal(
      "all that is not true",
      manifest("delete: { table: t, all: false }"),
      [
        "m.yaml:2:30: error: `all` must be true or left out, not the boolean `false`"
      ]),
    Refusal(
      "a move with neither map nor using",
      manifest("move_column: { table: t, from: a, to: { name: b } }"),
      [
        "m.yaml:2:18: error: `move_column` needs `map` or `using`"
      ]),
    Refusal(
      "a move with map and using",
      manifest("move_column: { table: t, from: a, to: { name: b }, map: { 0: 1 }, using: a }"),
      [
        "m.yaml:2:71: error: `move_column` takes `map` or `using`, not both"
      ]),
    Refusal(
      "a map that maps nothing",
      manifest("move_column: { table: t, from: a, to: { name: b }, map: {} }"),
      [
        "m.yaml:2:61: error: `map` is empty: it needs at least one key"
      ]),
    Refusal(
      "SQL as a map's target",
      manifest("move_column: { table: t, from: a, to: { name: b }, map: { 0: { sql: a } } }"),
      [
        "m.yaml:2:68: error: the value of `0` must not be SQL: use `using` for an expression"
      ]),
    Refusal(
      "a map that names a stored value twice",
      manifest("move_column: { table: t, from: a, to: { name: b }, map: { 1: 0, true: 1 } }"),
      [
        "m.yaml:2:69: error: duplicate value `true`: it equals the value on line 2"
      ]),
    Refusal(
      "an ambiguous value in a map",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { yes: 0, 007: 1, x: off } }"),
      [
        "m.yaml:2:63: error: a key of `map`: YAML readers disagree about `yes`: quote it ('yes' is text), or write a decimal number or `true`/`false`",
        "m.yaml:2:71: error: a key of `map`: YAML readers disagree about `007`: quote it ('007' is text), or write a decimal number or `true`/`false`",
        "m.yaml:2:82: error: the value of `x`: YAML readers disagree about `off`: quote it ('off' is text), or write a decimal number or `true`/`false`",
      ]),
    Refusal(
      "a mirror without keep_source",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0 }, mirror: true, map_back: { 0: 0 } }"
      ),
      [
        "m.yaml:2:71: error: `mirror` needs `keep_source: true`"
      ]),
    Refusal(
      "a mirror without map_back",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0 }, keep_source: true, mirror: true }"
      ),
      [
        "m.yaml:2:90: error: `mirror` needs `map_back`"
      ]),
    Refusal(
      "a mirror whose map_back is not total",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0, 1: 1, 2: x, 3: null, 4: x }, keep_source: true, mirror: true, map_back: { 0: 0, '1': 1 } }"
      ),
      [
        "m.yaml:2:131: error: `map_back` must name each value that `map` gives: `1`, `'x'` and `NULL` are missing"
      ]),
    Refusal(
      "a mirror whose map_back does not undo its map",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0, 1: x, 2: x }, keep_source: true, mirror: true, map_back: { 0: 1, x: 2, 5: 5 } }"
      ),
      [
        "m.yaml:2:131: error: `map_back` must undo `map`, which gives `0` for `0`, not for `1`"
      ]),
    Refusal(
      "a mirror with using",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, using: a, keep_source: true, mirror: true, map_back: { 0: 0 } }"
      ),
      [
        "m.yaml:2:56: error: `mirror` needs `map`: schemactl cannot invert an expression"
      ]),
    Refusal(
      "map_back without mirror",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0 }, map_back: { 0: 0 } }"),
      [
        "m.yaml:2:71: error: `map_back` needs `mirror: true`"
      ]),
    Refusal(
      "a move to the same name",
      manifest("move_column: { table: t, from: status, to: { name: Status }, map: { 0: 0 } }"),
      [
        "m.yaml:2:56: error: the new column has the name of the old one, `status`: give it "
          + "another name, or use `alter_column`"
      ]),
    Refusal(
      "dependents other than rename",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0 }, dependents: drop }"),
      [
        "m.yaml:2:83: error: `dependents` must be `rename`, not `drop`"
      ]),
    Refusal(
      "dependents with keep_source",
      manifest(
        "move_column: { table: t, from: a, to: { name: b }, map: { 0: 0 }, keep_source: true, dependents: rename }"
      ),
      [
        "m.yaml:2:90: error: `dependents` and `keep_source` exclude each other: remove one"
      ]),
    Refusal(
      "a rename to the same name",
      manifest("rename_table: { table: t, to: t }"),
      [
        "m.yaml:2:35: error: the table already has the name `t`"
      ]),
    Refusal(
      "a column renamed to the same name",
      manifest("rename_column: { table: t, from: a, to: a }"),
      [
        "m.yaml:2:45: error: the column already has the name `a`"
      ]),
    Refusal(
      "a rebuild that would lose rows",
      manifest("rebuild_table: { table: t, columns: [{ name: a }], where: a > 0 }"),
      [
        "m.yaml:2:56: error: `where` deletes the other rows: add `rows_may_be_lost: true`"
      ]),
    Refusal(
      "a rebuild that refuses to lose rows",
      manifest(
        "rebuild_table: { table: t, columns: [{ name: a }], where: a > 0, rows_may_be_lost: false }"
      ),
      [
        "m.yaml:2:56: error: `where` deletes the other rows: add `rows_may_be_lost: true`"
      ]),
    Refusal(
      "a rebuild that copies into no column",
      manifest("rebuild_table: { table: t, columns: [{ name: title }], copy: { titel: a } }"),
      [
        "m.yaml:2:68: error: the table has no column `titel`: did you mean `title`?"
      ]),
    Refusal(
      "two primary keys",
      manifest(
        "create_table: { name: t, columns: [{ name: a, primary_key: true }, { name: b, primary_key: true }] }"
      ),
      [
        "m.yaml:2:83: error: a second column with `primary_key: true`: list the columns of a compound key in the table's `primary_key`"
      ]),
    Refusal(
      "a primary key of a column and of the table",
      manifest(
        "create_table: { name: t, columns: [{ name: a, primary_key: true }, { name: b }], primary_key: [b] }"
      ),
      [
        "m.yaml:2:51: error: the table has a `primary_key` of its own: remove this one, or the table's"
      ]),
    Refusal(
      "autoincrement without a primary key",
      manifest(
        "create_table: { name: t, columns: [{ name: a, type: INTEGER, autoincrement: true }] }"),
      [
        "m.yaml:2:66: error: `autoincrement` needs `type: INTEGER` and `primary_key: true`"
      ]),
    Refusal(
      "autoincrement of text",
      manifest(
        "create_table: { name: t, columns: [{ name: a, type: INT, primary_key: true, autoincrement: true }] }"
      ),
      [
        "m.yaml:2:81: error: `autoincrement` needs `type: INTEGER` and `primary_key: true`"
      ]),
    Refusal(
      "two columns of one name",
      manifest("create_table: { name: t, columns: [{ name: a }, { name: b }, { name: A }] }"),
      [
        "m.yaml:2:74: error: duplicate column `A`: the first one is on line 2"
      ]),
    Refusal(
      "a key over a column that is not there",
      manifest(
        "create_table: { name: t, columns: [{ name: user_id }, { name: b }], primary_key: [userid], unique: [[b, zebra]], foreign_keys: [{ columns: [c], table: p }] }"
      ),
      [
        "m.yaml:2:87: error: the table has no column `userid`: did you mean `user_id`?",
        "m.yaml:2:109: error: the table has no column `zebra`",
        "m.yaml:2:145: error: the table has no column `c`",
      ]),
    Refusal(
      "a key that names a column twice",
      manifest("create_table: { name: t, columns: [{ name: a }], primary_key: [a, A] }"),
      [
        "m.yaml:2:71: error: duplicate column `A`: the first one is on line 2"
      ]),
    Refusal(
      "a foreign key with fewer parent columns",
      manifest(
        "create_table: { name: t, columns: [{ name: a }, { name: b }], foreign_keys: [{ columns: [a, b], table: p, to: [x] }] }"
      ),
      [
        "m.yaml:2:111: error: `to` names 1 and `columns` 2: a foreign key needs a parent column for each column"
      ]),
    Refusal(
      "an alteration that changes nothing",
      manifest("alter_column: { table: t, column: a }"),
      [
        "m.yaml:2:19: error: `alter_column` changes nothing: give it `type`, `not_null`, `default`, `collate`, `check`, `references` or `generated`"
      ]),
    Refusal(
      "a row with a column twice",
      manifest("insert: { table: t, rows: [{ a: 1, A: 2 }] }"),
      [
        "m.yaml:2:40: error: duplicate column `A`: the first one is on line 2"
      ]),
    Refusal(
      "an update with a column twice",
      manifest("update: { table: t, set: { a: 1, A: 2 }, all: true }"),
      [
        "m.yaml:2:38: error: duplicate column `A`: the first one is on line 2"
      ]),
  ]

  private static let advice =
    "Check the indentation, quotes and brackets. Put a text that contains `: ` or begins with a "
    + "special character in quotes"

  static let yaml = [
    Refusal(
      "an empty file",
      "",
      [
        "m.yaml:1:1: error: the file is empty: a manifest needs `operations`"
      ]),
    Refusal(
      "a file of comments",
      "# nothing\n",
      [
        "m.yaml:1:1: error: the file is empty: a manifest needs `operations`"
      ]),
    Refusal(
      "a document of nothing",
      "---\n",
      [
        "m.yaml:2:1: error: the file is empty: a manifest needs `operations`"
      ]),
    Refusal(
      "two documents",
      "operations: []\n---\noperations: []\n",
      [
        "m.yaml:2:1: error: a second document begins here: a file must have one document"
      ]),
    Refusal(
      "a duplicate key",
      "operations: []\ndescription: a\n\"description\": b\n",
      [
        "m.yaml:3:1: error: duplicate key `description`: the first one is on line 2"
      ]),
    Refusal(
      "a duplicate key of a map, by value",
      manifest("move_column: { table: t, from: a, to: { name: b }, map: { 0: 0, '0': 1, +0: 2 } }"),
      [
        "m.yaml:2:77: error: duplicate key `+0`: the first one is on line 2"
      ]),
    Refusal(
      "a key that is a list",
      "? [a, b]\n: 1\noperations: []\n",
      [
        "m.yaml:1:3: error: a key must be a single value, not a list or a mapping"
      ]),
    Refusal(
      "a merge key",
      "base: &b { x: 1 }\noperations: []\n<<: *b\n",
      [
        "m.yaml:1:1: error: unknown key `base` in a manifest, which takes `description`, `operations`, `before`, `after`, `foreign_keys`, `requires`, `replaces` and `lint`",
        "m.yaml:3:1: error: merge keys (`<<`) are not supported: write the keys out",
      ]),
    Refusal(
      "a tag",
      manifest("sql: !!str SELECT 1"),
      [
        "m.yaml:2:10: error: tags are not supported: remove the tag `!!str`"
      ]),
    Refusal(
      "a tag of one's own",
      "operations: !mine []\n",
      [
        "m.yaml:1:13: error: tags are not supported: remove the tag `!mine`"
      ]),
    Refusal(
      "text that is not a single expression or type",
      """
      operations:
        - add_column: { table: t, column: { name: b, type: 'TEXT, c TEXT', check: 'b > 0) --' } }
        - delete: { table: t, where: 'a); DROP TABLE t' }
        - create_index: { name: i, table: t, columns: [{ expression: (a }] }
        - add_column: { table: t, column: { name: g, generated: { as: 'RAISE(IGNORE)' } } }

      """,
      [
        "m.yaml:2:54: error: `type` must be a single type name, not `TEXT, c TEXT`",
        "m.yaml:2:77: error: `check` must be a single expression, not `b > 0) --`",
        "m.yaml:3:32: error: `where` must be a single expression, not `a); DROP TABLE t`",
        "m.yaml:4:64: error: `expression` must be a single expression, not `(a`. Within { } and [ ] a text ends at a comma: quote a text that contains a comma",
        "m.yaml:5:65: error: `as` must not contain RAISE(), which works only in triggers",
      ]),
    Refusal(
      "an alias without an anchor",
      manifest("sql: *nowhere"),
      [
        "m.yaml:2:10: error: the anchor `&nowhere` is missing before the alias `*nowhere`"
      ]),
    Refusal(
      "an alias inside its own anchor",
      "operations: &a\n  - sql: *a\n",
      [
        "m.yaml:2:10: error: the anchor `&a` is missing before the alias `*a`"
      ]),
    Refusal(
      "the problems of an anchor once",
      "operations:\n  - drop_table: &x { tabel: t }\n  - drop_table: *x\n",
      [
        "m.yaml:2:22: error: unknown key `tabel` in `drop_table`, which takes `table`: did you mean `table`?"
      ]),
    Refusal(
      "a directive",
      "%YAML 1.1\n---\noperations: []\n",
      [
        "m.yaml:1:1: error: directives are not supported: remove this line"
      ]),
    Refusal(
      "a tab as indentation",
      "operations:\n\t- sql: SELECT 1\n",
      [
        "m.yaml:2:1: error: the file is not valid YAML: found character that cannot start any token while "
          + "scanning for the next token. Indent with spaces, not with a tab"
      ]),
    Refusal(
      "an open bracket",
      "operations: [\n",
      [
        "m.yaml:2:1: error: the file is not valid YAML: did not find expected node content while parsing a flow node. \(advice)"
      ]),
    Refusal(
      "an open quote",
      manifest("sql: 'SELECT"),
      [
        "m.yaml:3:1: error: the file is not valid YAML: found unexpected end of stream while scanning a quoted scalar that begins on line 2. \(advice)"
      ]),
    Refusal(
      "a percent sign that begins a value",
      manifest("sql: %x"),
      [
        "m.yaml:2:10: error: the file is not valid YAML: found character that cannot start any token while scanning for the next token. \(advice)"
      ]),
    Refusal(
      "a key in the middle of nowhere",
      "operations:\n  - sql: SELECT 1\n drop: 1\n",
      [
        "m.yaml:3:2: error: the file is not valid YAML: did not find expected key while parsing a block mapping that begins on line 1. \(advice)"
      ]),
    Refusal(
      "a text that holds a colon",
      "description: Items: how many\noperations: []\n",
      [
        "m.yaml:1:19: error: the file is not valid YAML: mapping values are not allowed in this context. \(advice)"
      ]),
    Refusal(
      "a tab behind spaces",
      "operations:\n  - drop_table:\n    \ttable: t\n",
      [
        "m.yaml:3:5: error: the file is not valid YAML: found character that cannot start any token while scanning for the next token. Indent with spaces, not with a tab"
      ]),
    Refusal(
      "a text that begins with an asterisk",
      "description: * a *\noperations: []\n",
      [
        "m.yaml:1:15: error: the file is not valid YAML: did not find expected alphabetic or numeric character while scanning an alias. \(advice)"
      ]),
    Refusal(
      "a backslash in double quotes",
      "description: \"C:\\dir\"\noperations: []\n",
      [
        "m.yaml:1:17: error: the file is not valid YAML: found unknown escape character while parsing a quoted scalar. \(advice)"
      ]),
    Refusal(
      "a line that is no key",
      "operations: []\nfoo\n",
      [
        "m.yaml:3:1: error: the file is not valid YAML: could not find expected ':' while scanning a simple key that begins on line 2. \(advice)"
      ]),
    Refusal(
      "a control character",
      "description: a\u{7}b\noperations: []\n",
      [
        "m.yaml:1:15: error: the control character U+0007 is not allowed in YAML: write it as an "
          + "escape in double quotes"
      ]),
    Refusal(
      "a line separator",
      "description: a\u{2028}b\noperations: []\n",
      [
        "m.yaml:1:15: error: U+2028 ends a line for some readers of YAML and not for others: write it as \"\\u2028\" in double quotes"
      ]),
    Refusal(
      "a next-line character",
      "description: é\u{85}b\noperations: []\n",
      [
        "m.yaml:1:15: error: U+0085 ends a line for some readers of YAML and not for others: write it as \"\\u0085\" in double quotes"
      ]),
    Refusal(
      "columns count code points",
      manifest("insert: { table: t, rows: [{ größe🎈: 1, größe🎈: 2 }] }"),
      [
        "m.yaml:2:45: error: duplicate key `größe🎈`: the first one is on line 2"
      ]),
    Refusal(
      "columns after a byte order mark",
      "\u{feff}operation: []\noperations: []\n",
      [
        "m.yaml:1:1: error: unknown key `operation` in a manifest, which takes `description`, `operations`, `before`, `after`, `foreign_keys`, `requires`, `replaces` and `lint`: did you mean `operations`?"
      ]),
    Refusal(
      "positions with the line ends of Windows",
      "operations:\r\n  - drop_table:\r\n      tabel: t\r\n",
      [
        "m.yaml:3:7: error: unknown key `tabel` in `drop_table`, which takes `table`: did you mean `table`?"
      ]),
  ]

  static let many = [
    Refusal(
      "every problem is reported in one run, by position",
      "description: 7\noperation: []\noperations:\n  - drop_table: { tabel: a }\n  - update: { table: t, set: { a: 1 } }\n  - create_table:\n      name: t\n      columns:\n        - { name: a, type: INTEGER, uniqe: true }\n        - { name: A }\n        - { name: b, default: yes }\n  - sql: ''\nforeign_keys: sometimes\nforeign_keys: enforced\n",
      [
        "m.yaml:1:14: error: `description` must be text, and `7` is a number: quote it ('7')",
        "m.yaml:2:1: error: unknown key `operation` in a manifest, which takes `description`, `operations`, `before`, `after`, `foreign_keys`, `requires`, `replaces` and `lint`: did you mean `operations`?",
        "m.yaml:4:19: error: unknown key `tabel` in `drop_table`, which takes `table`: did you mean `table`?",
        "m.yaml:5:13: error: `update` needs `where` or `all: true`",
        "m.yaml:9:37: error: unknown key `uniqe` in a column, which takes `name`, `type`, `primary_key`, `autoincrement`, `not_null`, `default`, `unique`, `check`, `collate`, `references` and `generated`: did you mean `unique`?",
        "m.yaml:10:19: error: duplicate column `A`: the first one is on line 9",
        "m.yaml:11:31: error: `default`: YAML readers disagree about `yes`: quote it ('yes' is text), or write a decimal number or `true`/`false`",
        "m.yaml:12:10: error: `sql` is empty: it must be SQL",
        "m.yaml:13:15: error: `foreign_keys` must be `deferred` or `enforced`, not `sometimes`",
        "m.yaml:14:1: error: duplicate key `foreign_keys`: the first one is on line 13",
      ]),
    Refusal(
      "a problem of shape does not hide one of meaning",
      manifest(
        "move_column: { table: 7, from: a, to: { name: A }, map: { 0: 0 }, map_back: { 0: 0 } }"),
      [
        "m.yaml:2:27: error: `table` must be a name, and `7` is a number: quote it ('7')",
        "m.yaml:2:51: error: the new column has the name of the old one, `a`: give it another "
          + "name, or use `alter_column`",
        "m.yaml:2:71: error: `map_back` needs `mirror: true`",
      ]),
  ]

  static let configuration = [
    Refusal(
      "an unknown key",
      "migration: x\n",
      [
        "c.yaml:1:1: error: unknown key `migration` in the configuration, which takes `migrations`, `database`, `queries`, `schema`, `ledger_table`, `timeout`, `minimum_sqlite`, `sync`, `functions`, `collations`, `backup`, `replay`, `lint` and `ignore`: did you mean `migrations`?"
      ]),
    Refusal(
      "an unknown engine",
      "sync: { engine: core-data }\n",
      [
        "c.yaml:1:17: error: `engine` must be `none`, `additive`, `sqlite-data` or `cr-sqlite`, not `core-data`"
      ]),
    Refusal(
      "sync without an engine",
      "sync: { tables: [a] }\n",
      [
        "c.yaml:1:7: error: `sync` needs `engine`"
      ]),
    Refusal(
      "a negative timeout",
      "timeout: -1\n",
      [
        "c.yaml:1:10: error: `timeout` must be from 0 to 2147483, not -1"
      ]),
    Refusal(
      "a timeout that is text",
      "timeout: 5s\n",
      [
        "c.yaml:1:10: error: `timeout` must be a number, not the text `5s`"
      ]),
    Refusal(
      "an infinite timeout",
      "timeout: .inf\n",
      [
        "c.yaml:1:10: error: `timeout` must be a number, not `.inf`"
      ]),
    Refusal(
      "a version that YAML takes for a number",
      "minimum_sqlite: 3.35\n",
      [
        "c.yaml:1:17: error: `minimum_sqlite` must be a version, and `3.35` is a number: quote it ('3.35')"
      ]),
    Refusal(
      "an unknown severity",
      "lint: { rules: { drop-column: warn } }\n",
      [
        "c.yaml:1:31: error: the value of `drop-column` must be `error`, `warning`, `note` or `off`, not `warn`"
      ]),
    Refusal(
      "a function of too many arguments",
      "functions: [{ name: f, arguments: 128 }]\n",
      [
        "c.yaml:1:35: error: `arguments` must be from -1 to 127, not 128"
      ]),
    Refusal(
      "a fraction of an argument",
      "functions: [{ name: f, arguments: 1.5 }]\n",
      [
        "c.yaml:1:35: error: `arguments` must be a whole number, not the number `1.5`"
      ]),
    Refusal(
      "a path that is empty",
      "database: ''\n",
      [
        "c.yaml:1:11: error: `database` is empty: it must be text"
      ]),
    Refusal(
      "a list",
      "- a\n",
      [
        "c.yaml:1:1: error: the configuration must be a mapping, not a list"
      ]),
  ]
}
