import SchemaSQLText
import Testing

@Suite("CREATE INDEX, VIEW, TRIGGER, VIRTUAL TABLE")
struct CreateOthersTests {
  @Test("an index keeps its terms and its condition")
  func index() throws {
    let sql = TokenizedSQL(
      """
      CREATE UNIQUE INDEX IF NOT EXISTS main.[i 1] ON "t"
        (a COLLATE nocase DESC, lower(b) ASC, 'c') WHERE a > 0 AND b ;
      """)
    guard case .createIndex(let index) = try parseCreate(sql) else {
      Issue.record("not an index")
      return
    }
    #expect(index.isUnique && index.ifNotExists)
    #expect(index.schema?.text == "main" && index.name.text == "i 1" && index.table.text == "t")
    #expect(index.condition.map { sql.text($0.range) } == "a > 0 AND b")
    #expect(
      index.terms.map { sql.text($0.range) } == ["a COLLATE nocase DESC", "lower(b) ASC", "'c'"])
    #expect(index.terms.map { sql.text($0.expression.range) } == ["a", "lower(b)", "'c'"])
    #expect(index.terms.map(\.column?.text) == ["a", nil, "c"])
    #expect(index.terms.map(\.order) == [.descending, .ascending, nil])
  }

  @Test(
    "COLLATE belongs to the term only after a single operand",
    arguments: [
      ("a collate x", "a", "x"), ("lower(a, (b)) collate x", "lower(a, (b))", "x"),
      ("(a || b) collate x", "(a || b)", "x"), ("a || b collate x", "a || b collate x", nil),
      ("(a) || (b) collate x", "(a) || (b) collate x", nil),
      ("a collate x collate y", "a", "y"), ("desc", "desc", nil), ("a + 1", "a + 1", nil),
    ])
  func terms(text: String, expression: String, collation: String?) throws {
    let sql = TokenizedSQL("create index i on t(\(text))")
    guard case .createIndex(let index) = try parseCreate(sql) else {
      Issue.record("not an index")
      return
    }
    #expect(index.terms.map { sql.text($0.expression.range) } == [expression])
    #expect(index.terms[0].collation?.text == collation)
  }

  @Test("a view keeps its columns and its SELECT")
  func view() throws {
    let sql = TokenizedSQL("create temp view if not exists v (a, \"b c\") as select 1, 2 -- c\n")
    guard case .createView(let view) = try parseCreate(sql) else {
      Issue.record("not a view")
      return
    }
    #expect(view.isTemporary && view.ifNotExists && view.name.text == "v")
    #expect(view.columns.map(\.text) == ["a", "b c"])
    #expect(sql.text(view.selectRange) == "select 1, 2")
  }

  @Test("a trigger keeps all its parts")
  func trigger() throws {
    let sql = TokenizedSQL(
      """
      CREATE TEMP TRIGGER IF NOT EXISTS tr AFTER UPDATE OF a, "b" ON main.t FOR EACH ROW
      WHEN new.begin <> ';' BEGIN
        UPDATE t SET a = CASE WHEN 1 THEN 2 END;
        SELECT ';' ;
      END;
      """)
    guard case .createTrigger(let trigger) = try parseCreate(sql) else {
      Issue.record("not a trigger")
      return
    }
    #expect(trigger.isTemporary && trigger.ifNotExists)
    #expect(trigger.name.text == "tr" && trigger.timing == .after && trigger.event == .update)
    #expect(trigger.columns.map(\.text) == ["a", "b"])
    #expect(trigger.table.schema?.text == "main" && trigger.table.name.text == "t")
    #expect(trigger.condition.map { sql.text($0.range) } == "new.begin <> ';'")
    #expect(
      trigger.statements.map(sql.text) == [
        "UPDATE t SET a = CASE WHEN 1 THEN 2 END", "SELECT ';'",
      ])
    #expect(sql.text(trigger.bodyRange).hasPrefix("BEGIN\n"))
    #expect(sql.text(trigger.bodyRange).hasSuffix("END"))
  }

  @Test(
    "a trigger's time and event are parsed",
    arguments: [
      ("insert on", CreateTrigger.Timing.before, CreateTrigger.Event.insert),
      ("before delete on", .before, .delete), ("instead of update on", .insteadOf, .update),
      ("after insert on", .after, .insert),
    ])
  func timing(
    text: String, timing: CreateTrigger.Timing, event: CreateTrigger.Event
  ) throws {
    let sql = TokenizedSQL("create trigger before \(text) t when begin begin values (1); end")
    guard case .createTrigger(let trigger) = try parseCreate(sql) else {
      Issue.record("not a trigger")
      return
    }
    #expect(trigger.timing == timing && trigger.event == event && trigger.name.text == "before")
    #expect(trigger.condition.map { sql.text($0.range) } == "begin")
  }

  @Test("a virtual table keeps its arguments unchanged")
  func virtualTable() throws {
    let sql = TokenizedSQL(
      "create virtual table if not exists f using fts5(a UNINDEXED, , tokenize = 'x, y', p(1, 2) ; q);"
    )
    guard case .createVirtualTable(let table) = try parseCreate(sql) else {
      Issue.record("not a virtual table")
      return
    }
    #expect(table.ifNotExists && table.name.text == "f" && table.module.text == "fts5")
    #expect(table.arguments.map(sql.text) == ["a UNINDEXED", "tokenize = 'x, y'", "p(1, 2) ; q"])
    let bare = try parseCreate(TokenizedSQL("create virtual table f using m"))
    #expect(bare.name.text == "f")
  }

  @Test(
    "SQL that SQLite refuses is refused",
    arguments: [
      "create index i on main.t(a)", "create index i on t()", "create index i on t(a,)",
      "create index i on t(a) where", "create index i on t(a) where a; select 1",
      "create index i on t", "create temp index i on t(a)", "create temp virtual table t using m",
      "create view v as (select 1)", "create view v() as select 1",
      "create trigger tr on t begin select 1; end", "create trigger tr update on t begin end",
      "create trigger tr update on t begin select 1 end",
      "create trigger tr update on t begin; select 1; end",
      "create trigger tr update on t begin select 1;",
      "create trigger tr update on t for each statement begin select 1; end",
      "create trigger tr update on t when begin select 1; end",
      "create trigger tr delete of a on t begin select 1; end",
      "create virtual table t using", "create virtual table t using m(a", "create",
    ])
  func refused(text: String) {
    #expect(throws: SyntaxError.self) { try parseCreate(TokenizedSQL(text)) }
  }

  @Test("identifiers are possible names, and column identifiers a subset of them")
  func identifiers() {
    let sql = TokenizedSQL(
      #"date(new."a b") > 'c' AND key IS NOT NULL AND CAST(d AS REAL) IN (e COLLATE x)"#)
    let all = sql.identifiers(in: 0..<sql.bytes.count)
    #expect(
      all.map(\.text) == ["date", "new", "a b", "key", "CAST", "d", "REAL", "e", "x"])
    let columns = sql.columnIdentifiers(in: 0..<sql.bytes.count)
    #expect(columns.map(\.text) == ["a b", "key", "d", "e"])
    #expect(columns.map { sql.text($0.range) } == ["\"a b\"", "key", "d", "e"])
    #expect(sql.identifiers(in: 5..<8).map(\.text) == ["new"])
  }
}
