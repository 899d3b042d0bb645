import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let newerSQLiteNeeded = Rule(
    id: "newer-sqlite-needed",
    section: .hurtsLater,
    severities: .alwaysError,
    why: """
      `minimum_sqlite` in `schemactl.yaml` is the oldest SQLite that the app runs with. On Apple's \
      systems and on Android it is the system's own. A statement that needs a newer version fails \
      there, and users of old devices cannot update. A view or a trigger fails later, when a \
      statement uses it. Without `minimum_sqlite` lint reports nothing.
      """,
    fix: "Use a form that the older SQLite supports, or raise `minimum_sqlite`.",
    examples: Example(configuration: "minimum_sqlite: '3.37'"),
    wrong: """
      - sql: |
          CREATE VIEW cities AS SELECT title ->> '$.city' AS city FROM reminders
      """,
    right: """
      - sql: |
          CREATE VIEW cities AS
          SELECT json_extract(title, '$.city') AS city FROM reminders;
      """,
    check: .history { timeline, scope in
      guard let minimum = scope.minimumSQLite else { return [] }
      return timeline.statements.compactMap { statement in
        guard let (what, version) = statement.newestFeature, version > minimum else { return nil }
        return timeline.draft(
          "\(what) came with SQLite \(version); the app supports \(minimum) (`minimum_sqlite`)",
          at: statement.place, keys: ["sql", "name", "table"], object: what, table: nil)
      }
        + newDefaults(timeline, minimum)
        + timeline.migrations.enumerated().compactMap { index, migration in
          guard let needed = migration.manifest.requiredSQLite, needed > minimum else {
            return nil
          }
          return Draft(
            message: "the migration requires SQLite \(needed), but the app supports \(minimum) "
              + "(`minimum_sqlite`), which refuses it",
            migration: index, operation: nil, position: Position(line: 1, column: 1),
            object: "requires", table: nil, fix: nil)
        }
    })
}

/// Defaults that an operation writes into the schema without a separate statement.
private func newDefaults(_ timeline: Timeline, _ minimum: SQLiteVersion) -> [Draft] {
  timeline.tables.flatMap { change, after in
    after.columns.compactMap { column -> Draft? in
      let place = change.place(of: column.name)
      guard case .alterColumn? = timeline.operation(change.shaped)?.kind,
        change.shaped.migration == change.migration, let text = column.defaultText,
        change.before?.column(column.name)?.defaultText != text,
        let (feature, version) = TokenizedSQL("CREATE \(text)").newFeatures
          .map({ feature($0, $1) }).max(by: { $0.version < $1.version }), version > minimum
      else { return nil }
      return timeline.draft(
        "the default of `\(after.name).\(column.name)` needs \(feature), which came with SQLite "
          + "\(version); the app supports \(minimum) (`minimum_sqlite`)",
        at: change.newest(of: [place, change.shaped]), keys: ["default", "column"], object: feature,
        table: after.name)
    }
  }
}

private typealias Feature = (what: String, version: SQLiteVersion)

private func feature(_ what: String, _ minor: Int) -> Feature {
  (what, SQLiteVersion(number: 3_000_000 + minor * 1000))
}

/// The minor version with each function, from SQLite's release history.
private let functions: [Identifier: Int] = [
  "sqlite_rename_column": 25, "row_number": 25, "rank": 25, "dense_rank": 25, "percent_rank": 25,
  "cume_dist": 25, "ntile": 25, "lag": 25, "lead": 25, "first_value": 25, "last_value": 25,
  "nth_value": 25, "iif": 32, "substring": 34, "acos": 35, "acosh": 35, "asin": 35, "asinh": 35,
  "atan": 35, "atan2": 35, "atanh": 35, "ceil": 35, "ceiling": 35, "cos": 35, "cosh": 35,
  "degrees": 35, "exp": 35, "floor": 35, "ln": 35, "log": 35, "log10": 35, "log2": 35, "mod": 35,
  "pi": 35, "pow": 35, "power": 35, "radians": 35, "sign": 35, "sin": 35, "sinh": 35, "sqrt": 35,
  "tan": 35, "tanh": 35, "trunc": 35, "unixepoch": 38, "format": 38, "unhex": 41,
  "json_error_position": 42, "octet_length": 43, "timediff": 43, "concat": 44, "concat_ws": 44,
  "string_agg": 44, "jsonb": 45, "jsonb_array": 45, "jsonb_extract": 45, "jsonb_group_array": 45,
  "jsonb_group_object": 45, "jsonb_insert": 45, "jsonb_object": 45, "jsonb_patch": 45,
  "jsonb_remove": 45, "jsonb_replace": 45, "jsonb_set": 45, "json_pretty": 46, "if": 48,
  "unistr": 50, "unistr_quote": 50,
]

/// Modifiers of date and time functions, from SQLite's release history.
private let modifiers: [Identifier: Int] = [
  "'auto'": 38, "'julianday'": 38, "'subsec'": 42, "'subsecond'": 42, "'ceiling'": 46,
  "'floor'": 46,
]

extension StatementEffect {
  /// The newest feature that the statement uses; nil if SQLite 3.24 has all of them.
  fileprivate var newestFeature: Feature? {
    var found: [Feature] = []
    for event in events {
      if event.action == .alterTable, event.database != nil, event.trigger == nil {
        found.append(feature("DROP COLUMN", 35))
      }
      guard event.action == .function, let name = event.second?.identifier,
        let version = functions[name]
      else { continue }
      found.append(feature(name == "sqlite_rename_column" ? "RENAME COLUMN" : "\(name)()", version))
    }
    found += TokenizedSQL(sql).newFeatures.map { feature($0, $1) }
    return found.max { $0.version < $1.version }
  }
}

/// Words that may precede a parenthesis without being a function call.
private let notFunctions: Set<ExactText> = [
  "INTO", "ON", "EXISTS", ".", "VIEW", "TABLE", "REFERENCES", "WITH", "RECURSIVE", "INDEX",
]

extension TokenizedSQL {
  /// Features that the words and operators of a statement show.
  fileprivate var newFeatures: [(String, Int)] {
    let tokens = significant
    var found: [(String, Int)] = []
    if case .createTable(let table)? = try? parseCreate(self) {
      if table.isStrict { found.append(("STRICT", 37)) }
      if table.columns.contains(where: { $0.generated != nil }) {
        found.append(("a generated column", 31))
      }
    }
    // SQLite compiles stored SQL only when it is used, so that no event reports its function calls.
    let isStored = isWord(tokens.first, "CREATE") || isWord(tokens.first, "ALTER")
    for (index, token) in tokens.enumerated() {
      func next(_ word: String, after count: Int = 1) -> Bool {
        index + count < tokens.count && isWord(tokens[index + count], word)
      }
      let precedesParenthesis = index + 1 < tokens.count && text(tokens[index + 1]) == "("
      if isStored, token.kind == .word, let version = functions[name(token)], index > 0,
        precedesParenthesis, !notFunctions.contains(word(tokens[index - 1]))
      {
        found.append(("\(name(token))()", version))
      }
      if TimeFunctions.names.contains(name(token)), precedesParenthesis {
        for argument in split(inside(tokens[(index + 1)...]), atCommas: ()) {
          guard argument.count == 1, let modifier = argument.first.map(text),
            let version = modifiers[modifier.identifier]
          else { continue }
          found.append(("the modifier \(modifier)", version))
        }
      }
      let nextIsName =
        index + 1 < tokens.count && tokens[index + 1].kind == .word
        && !Keywords.isKeyword(text(tokens[index + 1]))
      let followsCall = index > 0 && text(tokens[index - 1]).exact == ")"
      switch word(token) {
      case "->" where token.kind == .punctuation: found.append(("the operator ->", 38))
      case "->>": found.append(("the operator ->>", 38))
      case "RETURNING": found.append(("RETURNING", 35))
      case "MATERIALIZED": found.append(("MATERIALIZED", 35))
      case "GENERATED" where next("ALWAYS"): found.append(("a generated column", 31))
      case "AS" where precedesParenthesis && isWord(tokens.first, "ALTER"):
        found.append(("a generated column", 31))
      case "OVER" where precedesParenthesis || followsCall && nextIsName:
        found.append(("a window function", 25))
      case "FILTER" where precedesParenthesis && followsCall: found.append(("FILTER", 30))
      case "GROUPS"
      where (1...4).contains { next("PRECEDING", after: $0) || next("CURRENT", after: $0) }:
        found.append(("a GROUPS frame", 28))
      case "NULLS" where next("FIRST") || next("LAST"): found.append(("NULLS FIRST", 30))
      case "RIGHT" where next("JOIN") || next("OUTER"): found.append(("RIGHT JOIN", 39))
      case "FULL" where next("JOIN") || next("OUTER"): found.append(("FULL JOIN", 39))
      case "DISTINCT" where next("FROM"): found.append(("IS DISTINCT FROM", 39))
      // In a table's definition, an action follows CONFLICT.
      case "CONFLICT" where next("DO") || precedesParenthesis:
        found.append(("ON CONFLICT DO", 24))
      default: break
      }
    }
    var statements = [self]
    if case .createTrigger(let trigger)? = try? parseCreate(self) {
      statements = trigger.statements.map { TokenizedSQL(text($0)) }
    }
    let repeatsConflict = statements.contains { statement in
      statement.significant.count { statement.isWord($0, "CONFLICT") } > 1
        && WritingStatement(statement)?.kind == .insert
    }
    if repeatsConflict { found.append(("a second ON CONFLICT DO", 35)) }
    let updatesFrom = statements.compactMap { WritingStatement($0) }.contains { writing in
      writing.kind == .update && !writing.hasCommonTables && writing.otherClauses.contains("from")
    }
    if updatesFrom { found.append(("UPDATE … FROM", 33)) }
    return found
  }
}
