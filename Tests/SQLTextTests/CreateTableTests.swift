import SchemaSQLText
import Testing

/// The table that a text creates.
private func table(_ sql: TokenizedSQL) throws -> CreateTable {
  guard case .createTable(let table) = try parseCreate(sql) else {
    throw NotATable()
  }
  return table
}

private struct NotATable: Error {}

@Suite("CREATE TABLE")
struct CreateTableTests {
  @Test("every part has its position in the text")
  func spans() throws {
    let sql = TokenizedSQL(
      """
      CREATE TABLE IF NOT EXISTS main."t 1" ( -- body
        id INTEGER CONSTRAINT pk PRIMARY KEY DESC ON CONFLICT FAIL AUTOINCREMENT /* key */,
        'b' VARCHAR ( 10 , -2 ) NOT NULL COLLATE "nocase" DEFAULT (lower('(x')) , -- last
        CONSTRAINT u UNIQUE (b COLLATE nocase DESC) ON CONFLICT REPLACE
        CHECK ( b <> ')' )
      ) STRICT, WITHOUT ROWID ;
      """)
    let table = try table(sql)
    #expect(table.schema?.text == "main")
    #expect(table.name.text == "t 1")
    #expect(sql.text(table.name.range) == #""t 1""#)
    #expect(table.ifNotExists && table.isStrict && table.isWithoutRowid && !table.isTemporary)
    #expect(
      table.columns.map { sql.text($0.range) } == [
        "id INTEGER CONSTRAINT pk PRIMARY KEY DESC ON CONFLICT FAIL AUTOINCREMENT",
        #"'b' VARCHAR ( 10 , -2 ) NOT NULL COLLATE "nocase" DEFAULT (lower('(x'))"#,
      ])
    #expect(table.columns.map(\.name.text) == ["id", "b"])
    #expect(table.columns.map(\.type?.text) == ["INTEGER", "VARCHAR ( 10 , -2 )"])
    #expect(
      table.columns.flatMap(\.constraints).map { sql.text($0.range) } == [
        "CONSTRAINT pk PRIMARY KEY DESC ON CONFLICT FAIL AUTOINCREMENT",
        "NOT NULL", #"COLLATE "nocase""#, "DEFAULT (lower('(x'))",
      ])
    let value = try #require(table.columns[1].defaultExpression)
    #expect(sql.text(value.range) == "lower('(x')")
    #expect(sql.text(value.outerRange) == "(lower('(x'))")
    #expect(
      table.constraints.map { sql.text($0.range) } == [
        "CONSTRAINT u UNIQUE (b COLLATE nocase DESC) ON CONFLICT REPLACE", "CHECK ( b <> ')' )",
      ])
    #expect(table.constraints.map(\.name?.text) == ["u", nil])
  }

  @Test("column constraints are parsed")
  func columnConstraints() throws {
    let sql = TokenizedSQL(
      """
      create temp table t (
        a integer primary key asc on conflict rollback autoincrement,
        b not null on conflict replace unique on conflict ignore null check (b > 0) check (b < 9),
        c default 1 default -2.5 collate binary collate nocase,
        d generated always as (a + 1) stored, e int as (a), f int as (a) virtual
      )
      """)
    let columns = try table(sql).columns
    #expect(columns[0].primaryKey?.order == .ascending)
    #expect(columns[0].primaryKey?.onConflict == .rollback)
    #expect(columns[0].primaryKey?.isAutoincrement == true)
    #expect(columns[0].notNull == nil && columns[1].primaryKey == nil)
    #expect(columns[1].notNull == .replace && columns[1].isUnique && !columns[0].isUnique)
    #expect(columns[1].checks.map { sql.text($0.range) } == ["b > 0", "b < 9"])
    #expect(columns[2].defaultExpression.map { sql.text($0.range) } == "-2.5")
    #expect(columns[2].collation?.text == "nocase")
    #expect(columns[3...].map(\.generated?.isStored) == [true, false, false])
    #expect(columns[3...].map(\.type?.text) == [nil, "int", "int"])
    #expect(columns[3].generated.map { sql.text($0.expression.range) } == "a + 1")
    #expect(sql.text(columns[3].constraints[0].range) == "generated always as (a + 1) stored")
    #expect(try table(TokenizedSQL("create table t(a not null)")).columns[0].notNull == .abort)
  }

  @Test("foreign keys are parsed, in columns and in the table")
  func foreignKeys() throws {
    let sql = TokenizedSQL(
      """
      create table t (
        a references p (x) on delete cascade on update set null match full
          not deferrable initially deferred references [q r],
        b references p not null deferrable initially deferred,
        constraint f foreign key (a, "b") references p (x, y) on insert restrict
          on delete no action on update set default deferrable initially immediate,
        foreign key (a) references p on delete restrict
      )
      """)
    let table = try table(sql)
    let first = table.columns[0].references
    #expect(first.map(\.table.text) == ["p", "q r"])
    #expect(first[0].columns.map(\.text) == ["x"] && first[1].columns.isEmpty)
    #expect(first[0].onDelete == .cascade && first[0].onUpdate == .setNull)
    #expect(!first[0].isDeferred)
    #expect(sql.text(first[1].range) == "references [q r]")
    #expect(table.columns[1].references.map(\.isDeferred) == [true])
    #expect(table.columns[1].constraints.count == 3)
    guard case .foreignKey(let columns, let reference) = table.constraints[0].kind else {
      Issue.record("not a foreign key: \(table.constraints[0])")
      return
    }
    #expect(columns.map(\.text) == ["a", "b"] && reference.columns.map(\.text) == ["x", "y"])
    #expect(reference.onDelete == .noAction && reference.onUpdate == .setDefault)
    #expect(!reference.isDeferred)
    #expect(
      sql.text(table.constraints[1].range) == "foreign key (a) references p on delete restrict")
  }

  @Test("a table's keys keep their terms, AUTOINCREMENT and conflict clause")
  func tableKeys() throws {
    let sql = TokenizedSQL(
      """
      create table t (a, b, primary key (a desc autoincrement) on conflict fail,
        unique ('a' collate nocase, ("b")), check (a > b) on conflict ignore)
      """)
    let constraints = try table(sql).constraints
    guard case .primaryKey(let key, true, .fail) = constraints[0].kind,
      case .unique(let unique, nil) = constraints[1].kind,
      case .check(let check, .ignore) = constraints[2].kind
    else {
      Issue.record("\(constraints)")
      return
    }
    #expect(key.map(\.column?.text) == ["a"] && key.map(\.order) == [.descending])
    #expect(unique.map(\.column?.text) == ["a", "b"])
    #expect(unique.map(\.collation?.text) == ["nocase", nil])
    #expect(sql.text(check.range) == "a > b")
  }

  @Test(
    "the type is equal to SQLite's",
    arguments: [
      ("a", nil), ("a INT", "INT"), ("a unsigned  big int", "unsigned  big int"),
      ("a DECIMAL(10, +2)", "DECIMAL(10, +2)"), ("a 'b c' d", "b c"), ("a \"int\"", "int"),
      ("a [x y] NOT NULL", "x y"), ("a INT KEY", "INT KEY"), ("a generated", "generated"),
      ("a generated always", nil), ("a int generated /* c */ always", "int"),
      ("a int generated always not null", "int"), ("a int generated always as (1)", "int"),
      ("a generated as (1)", "generated"), ("a always", "always"),
      ("a generated always b as (1)", "generated always b"), ("a as (1)", nil),
      ("a conflict restrict", "conflict restrict"),
    ])
  func types(column: String, type: String?) throws {
    let table = try table(TokenizedSQL("CREATE TABLE t(\(column), z)"))
    #expect(table.columns[0].type?.text == type)
    #expect(table.columns.count == 2)
  }

  @Test(
    "a default is any value or name",
    arguments: [
      "5", "-5", "+ 5", "1.5e3", "'x'", "\"x\"", "[x y]", "x", "key", "true", "NULL", "-NULL",
      "x'00'", "CURRENT_TIMESTAMP", "- 'x'", "0x1F",
    ])
  func defaults(value: String) throws {
    let sql = TokenizedSQL("CREATE TABLE t(a DEFAULT \(value) NOT NULL)")
    let column = try table(sql).columns[0]
    #expect(column.defaultExpression.map { sql.text($0.range) } == value)
    #expect(column.notNull == .abort)
  }

  @Test("CREATE TABLE AS has no columns")
  func asSelect() throws {
    for select in ["SELECT 1 AS a", "VALUES (1)", "WITH x AS (SELECT 1) SELECT * FROM x"] {
      let sql = TokenizedSQL("CREATE TABLE t AS \(select) ;")
      let table = try table(sql)
      #expect(table.columns.isEmpty)
    }
  }

  @Test("a column is found in any case, as in SQLite")
  func find() throws {
    let table = try table(TokenizedSQL("CREATE TABLE t(isCompleted, É)"))
    #expect(table.column(named: "ISCOMPLETED") == table.columns[0])
    #expect(table.column(named: "é") == nil)
  }

  @Test(
    "SQL that SQLite accepts is accepted",
    arguments: [
      "create table t(a int constraint x)",
      "create table t(a int constraint x constraint y unique)",
      "create table t(a, constraint x)", "create table t(a, constraint x constraint y unique(a))",
      "create table t(a, check(a) check (a) , unique(a))", "create table t(left int, natural)",
      "create table t(a references left)", "create table t(a deferrable)",
      "create table t(a not deferrable)", "create table t(a references p deferrable deferrable)",
      "create table t(a references p match x match y)", "create table t(a collate 'nocase')",
      "create table t(a int) , strict", "create table t(a) without rowid, without rowid",
      "create table t(a constraint 'x' not null)", "create temporary table temp . t(a)",
      "create table t(a default (1) collate nocase)", "create table t(a default 1 -- c\n)",
      "create table main.[t](a);;", "create table t(a unique on conflict abort)",
    ])
  func accepted(text: String) {
    #expect(throws: Never.self) { try parseCreate(TokenizedSQL(text)) }
  }

  @Test(
    "SQL that SQLite refuses is refused",
    arguments: [
      "create table t(a check(a) on conflict ignore)",
      "create table t(a int foreign key(a) references p)",
      "create table t(a, unique(a), b int)",
      "create table t(a, unique(a) b int)",
      "create table t(a default :x)",
      "create table t(a default + x)",
      "create table t(a default not null)",
      "create table t(a default left)",
      "create table t(a default 'x' 'y')",
      "create table t(a left)",
      "create table t(a varchar(max))",
      "create table t(a (10))",
      "create table t(a collate left)",
      "create table t(a,)",
      "create table t()",
      "create table t(a int isnull)",
      "create table t(a, , check(a))",
      "create table t(a, check())",
      "create table t(a references p(a,))",
      "create table t(a constraint not null)",
      "create table t(a) with rowid",
      "create table t(a) strict strict",
      "create table t(a) strict,",
      "create table t as (select 1)",
      "create table x.y.z(a)",
      "create table select(a)",
      "create table t(a primary key on conflict explode)",
      "create table t(a references p on delete explode)",
      "create table t(a as (1) foo)",
      "create table t(a); select 1",
      "create unique table t(a)",
      "create schema s",
      "select 1",
      "",
      "-- a",
      "create table t(a check (a",
      "create table t(a, unique (a",
      "create table t(a 123abc)",
      "create table t(a 'b)",
      "create table t(a, primary key(a autoincrement, autoincrement))",
    ])
  func refused(text: String) {
    #expect(throws: SyntaxError.self) { try parseCreate(TokenizedSQL(text)) }
  }
}
