import SchemaManifest
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// `docs/manifest.md`: the reference of manifests and `schemactl.yaml`, generated from the grammar
/// of the decoder.
package enum ManifestReference {
  package static var document: String {
    var writer = ReferenceWriter()
    writer.write(introduction)
    writer.keys(of: Grammar.manifest)
    writer.write(values)
    writer.write(suppressions)
    writer.write("\n### Suppression\n\n")
    writer.keys(of: Grammar.suppression)
    writer.write(
      """

      ## Operations

      Each entry of `operations` has one of these keys, and may have its own `lint`.

      """)
    for rule in Grammar.operations { writer.operation(rule) }
    writer.write(mirror)
    writer.write(
      """

      ## Parts

      Several operations use these mappings.

      """)
    writer.parts(
      besides: [Grammar.suppression, Grammar.literal],
      of: [Grammar.manifest] + Grammar.operationBodies)
    writer.write(configuration)
    writer.keys(of: Grammar.configuration)
    writer.parts(besides: [], of: [Grammar.configuration])
    return writer.text
  }

  private static let introduction = """
    # Manifest reference

    Which operations and keys can a manifest have?

    A migration is one file, `NNNN_description.yaml`, in the directory `migrations`. The numbers
    determine the order. `schemactl new` creates the next file. Editors complete and check manifests
    with [manifest.schema.json](manifest.schema.json). A test generates this page from the grammar and
    runs each example.

    ```yaml
    description: Items have a price.
    operations:
      - add_column:
          table: items
          column: { name: price, type: INTEGER, not_null: true, default: 0 }
    ```


    """

  private static let mirror = """

    ## Mirrored columns

    Two versions of the app may share a database or sync with each other. Then the older version writes
    the old column, and the newer version writes the new column. `mirror` installs triggers that copy each
    change to the other column:

    ```yaml
    operations:
      - move_column:
          table: items
          from: isDone
          to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
          map: { 0: 0, 1: 1 }
          keep_source: true
          mirror: true
          map_back: { 0: 0, 1: 1, 2: 0 }
    ```

    - After an INSERT, the column that differs from its default wins. If both or neither differ, the
      new column wins.
    - After an UPDATE, the column that has changed wins. If both have changed, the new column wins.
    - If the two values agree by `map` or by `map_back`, the triggers change nothing. An older version
      that writes 0 over 0 leaves a `status` of 2. The triggers never react to each other.
    - If the winner's map does not name a value, both columns keep their values. This includes NULL. Name
      every possible value of the new column in `map_back`. If the new column has `check: NAME IN (…)`,
      schemactl refuses a `map_back` without one of these values.
    - `map_back` must name every value of `map`, and return it to a value that `map` converts into it.
      Both columns must store the values unchanged, and their CHECK must allow them.
    - schemactl refuses columns in the primary key, UNIQUE columns and generated columns. It also refuses
      defaults that are not constants or do not agree with each other (exit code 65).
    - The UPDATE of a mirror also fires your UPDATE triggers. RETURNING returns the row before the
      triggers run.

    schemactl names the triggers `mirror_items_isDone_to_status_on_insert` and `…_on_update`. Two more
    triggers have the names of the columns exchanged. If a name exists, schemactl adds a number.
    `rename_column` and rewrites keep the triggers. `drop_column` lists them and stops. When no older
    version runs any more, drop all four with `drop_trigger`, and then drop the old column.

    The triggers also fire for rows that a sync engine writes. A value from an older device therefore
    reaches the new column. Do not guard the triggers with SQLiteData's
    `sqlitedata_icloud_syncEngineIsSynchronizingChanges()`. Without the guard, they produce the same
    result on every device, and SQLiteData does not upload it. The values on the server may disagree
    until a device writes one of the two columns again. On a new device the new column wins.

    """

  private static let values = """

    ## Values

    | written | stored |
    |---|---|
    | `7`, `-1.5` | a number |
    | `true`, `false` | 1 and 0 |
    | `null`, `~` | NULL |
    | `milk`, `'0'`, `"a: b"` | a text; anything in quotes is a text |
    | `{ sql: "uuid()" }` | the result of an SQL expression, evaluated each time |
    | `{ blob: "00ff" }` | bytes, two hexadecimal digits each |

    YAML readers disagree about `yes`, `no`, `on`, `off`, `007`, `0x1f`, `1_000` and `.inf`. schemactl
    reports them as errors with the correct form. It also reports a `default` that looks like an
    expression: `uuid()`, `CURRENT_TIMESTAMP`, `datetime('now')`, `(1 + 2)`, `x'00ff'`. Write
    `{ sql: "uuid()" }` for the expression, or `"uuid()"` for the text.

    SQL is a text: `check: price >= 0`. Quote it if it contains `: ` or ` #` or begins with a quote or
    a bracket. Inside `{ }` and `[ ]`, also quote it if it contains a comma or a bracket:
    `{ check: "status IN (0, 1)" }`.

    SQLite does not have a function `uuid()`. schemactl registers it on its own connections. The app must
    register it, too; SQLiteData does. Declare other functions of the app in `schemactl.yaml`. The `sqlite3`
    shell does not have `uuid()`, so it reports `unknown function` for statements that could call it:

    | column with `DEFAULT (uuid())` | the shell refuses |
    |---|---|
    | any | an INSERT that does not name the column |
    | NOT NULL | also INSERT OR REPLACE, and UPDATE OR REPLACE of the column, even with a value |
    | NOT NULL ON CONFLICT REPLACE | also every INSERT and UPDATE of the column without OR, even with a value |

    In the last case, `INSERT OR ABORT` and `UPDATE OR ABORT` with a value work. `.dump` writes a plain INSERT
    for each row, so the shell cannot load a dump of such a table.

    """

  private static let suppressions = """

    ## Suppressions

    Accept a finding of [lint](lint.md) with a reason, for the whole manifest or for one operation:

    ```yaml
    operations:
      - drop_column: { table: items, column: price }
        lint:
          allow:
            - rule: drop-column
              reason: Nothing syncs, and the app never filled the column.
    ```

    """

  private static let configuration = """

    ## schemactl.yaml

    schemactl looks for this file in the working directory and in the directories above it. Paths in the
    file are relative to the file's directory. Every key is optional. An option on the command line
    overrides a key.

    ```yaml
    migrations: migrations
    database: app.sqlite
    sync: { engine: none }
    functions:
      - { name: shout, arguments: 1 }
    lint:
      rules: { drop-column: warning }
    ```


    """
}

extension Grammar {
  static var operationBodies: [MappingRule] {
    operations.compactMap { if case .mapping(let rule) = $0.shape { rule } else { nil } }
  }

  /// A short example for each operation, as an entry of `operations`.
  package static let examples: [ExactText: String] = [
    "create_table": """
    - create_table:
        name: items
        columns:
          - { name: id, type: INTEGER, primary_key: true }
          - { name: title, type: TEXT, not_null: true, default: "" }
          - { name: listID, type: INTEGER, references: { table: lists, on_delete: cascade } }
        checks: [ length(title) < 200 ]
    """,
    "drop_table": "- drop_table: { table: items }",
    "rename_table": "- rename_table: { table: items, to: things }",
    "rebuild_table": """
    - rebuild_table:
        table: items
        columns:
          - { name: id, type: INTEGER, primary_key: true }
          - { name: title, type: TEXT, not_null: true }
        copy: { title: "coalesce(title, '')" }
    """,
    "convert_primary_key": """
    - convert_primary_key: { table: items, to: uuid, uuids: per_database }
    """,
    "add_column": """
    - add_column:
        table: items
        column: { name: price, type: INTEGER, not_null: true, default: 0 }
    """,
    "drop_column": "- drop_column: { table: items, column: price }",
    "rename_column": "- rename_column: { table: items, from: title, to: name }",
    "move_column": """
    - move_column:
        table: items
        from: isDone
        to: { name: status, type: TEXT, not_null: true, default: open }
        map: { 0: open, 1: done }
    """,
    "alter_column": """
    - alter_column: { table: items, column: title, not_null: true, default: "" }
    """,
    "create_index": """
    - create_index:
        name: items_by_title
        table: items
        columns: [ title, { column: price, order: desc } ]
    """,
    "create_view": """
    - create_view:
        name: cheap
        sql: CREATE VIEW cheap AS SELECT title FROM items WHERE price < 10
    """,
    "create_trigger": """
    - create_trigger:
        name: items_touch
        sql: |
          CREATE TRIGGER items_touch AFTER UPDATE OF title ON items BEGIN
            UPDATE items SET changedAt = datetime() WHERE id = NEW.id;
          END
    """,
    "create_virtual_table": """
    - create_virtual_table: { name: search, using: fts5, arguments: [ title ] }
    """,
    "drop_index": "- drop_index: { name: items_by_title }",
    "drop_view": "- drop_view: { name: cheap }",
    "drop_trigger": "- drop_trigger: { name: items_touch }",
    "drop_virtual_table": "- drop_virtual_table: { name: search }",
    "insert": """
    - insert:
        table: items
        rows:
          - { title: Milk, price: 2 }
          - { title: Bread, price: { sql: "1 + 2" } }
    """,
    "update": """
    - update: { table: items, set: { price: price * 100 }, where: price > 0 }
    """,
    "delete": "- delete: { table: items, where: title = '' }",
    "sql": """
    - sql: |
        UPDATE items SET title = trim(title);
        DELETE FROM items WHERE title = '';
    """,
    "assert": """
    - assert:
        query: SELECT count(*) FROM items WHERE price < 0
        equals: 0
        message: An item has a negative price.
    """,
  ]
}

/// Writes Markdown with a table of the keys of each mapping.
private struct ReferenceWriter {
  private(set) var text = ""

  mutating func write(_ text: String) { self.text += text }

  mutating func operation(_ rule: OperationRule) {
    write("\n### \(rule.name)\n\n\(rule.summary)")
    write("\n\n")
    if case .mapping(let mapping) = rule.shape {
      keys(of: mapping)
    } else {
      write("The value is \(rule.shape.reference).\n")
    }
    if let example = Grammar.examples[rule.name] { write("\n```yaml\n\(example)\n```\n") }
  }

  mutating func keys(of rule: MappingRule) {
    write("| key | takes | |\n|---|---|---|\n")
    for key in rule.keys {
      let name = "`\(key.name)`" + (key.isRequired ? " **(required)**" : "")
      write("| \(name) | \(key.shape.reference) | \(key.summary) |\n")
    }
    if !rule.exactlyOneOf.isEmpty {
      let names = rule.exactlyOneOf.map { "`\($0)`" }
      write("\nExactly one of \(listed(names, "and")) is required.\n")
    }
  }

  /// Writes the nested mappings, each only once.
  mutating func parts(besides known: [MappingRule], of rules: [MappingRule]) {
    var names = Set((known + rules).map { ExactText($0.name) })
    var rest = rules.flatMap(\.held)
    while !rest.isEmpty {
      let rule = rest.removeFirst()
      guard names.insert(rule.name) else { continue }
      write("\n### \(rule.title)\n\n")
      keys(of: rule)
      rest = rule.held + rest
    }
  }
}

extension MappingRule {
  /// The name as a heading: without its article and with a capital first letter.
  fileprivate var title: String {
    let words = name.split(separator: " ").drop { $0 == "a" || $0 == "an" }
    let title = words.joined(separator: " ")
    return title.prefix(1).uppercased() + title.dropFirst()
  }

  /// A link to the section of the mapping, with the anchor that GitHub creates for the heading.
  fileprivate var link: String {
    let anchor = title.lowercased().replacing("`", with: "").replacing(" ", with: "-")
    return "[\(name)](#\(anchor))"
  }

  fileprivate var held: [MappingRule] { keys.flatMap(\.shape.held) }
}

extension Shape {
  fileprivate var held: [MappingRule] {
    switch self {
    case .mapping(let rule): [rule]
    case .either(let short, let rule): short.held + [rule]
    case .list(let shape, _), .oneOrMany(let shape), .nullable(let shape): shape.held
    case .map(let key, let value, _): key.held + value.held
    default: []
    }
  }

  /// A description of the value for a table cell.
  fileprivate var reference: String {
    switch self {
    case .text(let rule): rule.reference
    case .sql, .expression, .script: "SQL"
    case .literal, .columnDefault: "a [value](#values)"
    case .constant: "a [value](#values) other than SQL"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range): "a number, at least \(shown(range.lowerBound))"
    case .boolean: "`true` or `false`"
    case .consent: "`true`"
    case .choice(let choices): listed(choices.map { "`\($0)`" }, "or")
    case .list(.operation, _): "a list of [operations](#operations)"
    case .list(.list(let element, _), _): "a list of lists, each \(element.reference)"
    case .list(let element, _): "a list, each \(element.reference)"
    case .oneOrMany(let shape): "\(shape.reference), or a list of it"
    case .mapping(let rule): rule.link
    case .map(let key, let value, _): "a mapping: \(key.reference) → \(value.reference)"
    case .nullable(let shape): "\(shape.reference), or `null`"
    case .either(let short, let rule): "\(short.reference), or \(rule.link)"
    case .operation: "an [operation](#operations)"
    }
  }
}

extension TextRule {
  fileprivate var reference: String {
    switch self {
    case .any, .filled: "a text"
    case .name, .type: "a name"
    case .hexadecimal: "hexadecimal digits"
    case .date: "a date such as `2027-01-31`"
    case .version: "a version such as `'3.37'`"
    }
  }
}
