import SchemaManifest
import SchemaSQLText
import SchemaSQLite
import Testing

@Suite("Values")
struct ValueTests {
  private func value(_ yaml: String) throws -> Value? { try literal(yaml)?.value }

  private func literal(_ yaml: String) throws -> Literal? {
    guard
      case .insert(_, let rows) = try operation("  - insert: { table: t, rows: [{ a: \(yaml) }] }")
    else { return nil }
    return rows.first?.first?.value
  }

  @Test(
    "a value is decoded by the core schema of YAML 1.2",
    arguments: [
      ("null", Value.null), ("Null", .null), ("NULL", .null), ("~", .null), ("", .null),
      ("nULL", .text("nULL")), ("'null'", .text("null")), ("\"~\"", .text("~")),
      ("true", .integer(1)), ("True", .integer(1)), ("TRUE", .integer(1)),
      ("false", .integer(0)), ("False", .integer(0)), ("FALSE", .integer(0)),
      ("tRUE", .text("tRUE")), ("'true'", .text("true")),
      ("0", .integer(0)), ("-0", .integer(0)), ("+7", .integer(7)), ("-7", .integer(-7)),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      ("'7'", .text("7")), ("1.5", .real(1.5)), ("-1.5", .real(-1.5)), ("+.5", .real(0.5)),
      ("1.", .real(1)), ("1e3", .real(1000)), ("1E-2", .real(0.01)), ("1.5e+3", .real(1500)),
      ("0.5", .real(0.5)), ("-0.0", .real(-0.0)), ("1e-999", .real(0)),
      ("text", .text("text")), ("1.2.3", .text("1.2.3")), ("1e", .text("1e")),
      ("e1", .text("e1")), (".", .text(".")), ("+", .text("+")),
      ("_1", .text("_1")), ("1-2", .text("1-2")), ("12:30", .text("12:30")),
      ("2027-01-01", .text("2027-01-01")), ("0x", .text("0x")), ("0xg", .text("0xg")),
      ("y", .text("y")), ("none", .text("none")), (".info", .text(".info")), (".e1", .text(".e1")),
      ("\"a\\tb\\u00e9\"", .text("a\tbé")), ("'it''s'", .text("it's")),
      ("{ blob: '' }", .blob([])), ("{ blob: 00fF }", .blob([0, 255])),
    ])
  func core(yaml: String, expected: Value) throws {
    #expect(try value(yaml) == expected)
  }

  @Test(
    "values that YAML parsers interpret differently are refused",
    arguments: [
      "yes", "Yes", "YES", "no", "on", "ON", "off", "oFf", "007", "-01", "00", "01.5", "0x1F",
      "-0xff", "0o17", "0b11", "0X1f", "1_000", "1_0.5", "_1_".replacing("_1_", with: "1_"),
      ".inf", "-.INF", "+.Inf", ".nan", ".NaN", "9223372036854775808", "-9223372036854775809",
      "1e999", "-1e999",
    ])
  func ambiguous(yaml: String) throws {
    let found = problems(manifest("insert: { table: t, rows: [{ a: \(yaml) }] }"))
    #expect(found.count == 1)
    #expect(found.first?.contains("quote it ('\(yaml)' is text)") == true)
    #expect(try value("'\(yaml)'") == .text(yaml))
  }

  @Test(
    "SQL accepts a plain scalar as it is written", arguments: ["1", "null", "0x1F", "TRUE", "no"])
  func sqlAsWritten(yaml: String) throws {
    guard case .delete(_, let condition) = try operation("  - delete: { table: t, where: \(yaml) }")
    else { return #expect(Bool(false)) }
    #expect(condition?.text == yaml)
  }

  @Test("an expression keeps its text")
  func expression() throws {
    guard case .sql(let source)? = try literal("{ sql: uuid() }") else {
      return #expect(Bool(false))
    }
    #expect(source.text == "uuid()")
  }

  @Test(
    "foreign key actions are accepted in the notations of SQL and YAML",
    arguments: [
      ("cascade", CreateTable.ForeignKeyAction.cascade), ("CASCADE", .cascade),
      ("set_null", .setNull),
      ("set null", .setNull), ("SET NULL", .setNull), ("Set_Default", .setDefault),
      ("no action", .noAction), ("NO_ACTION", .noAction), ("restrict", .restrict),
    ])
  func actions(yaml: String, expected: CreateTable.ForeignKeyAction) throws {
    let reference = "{ table: p, on_delete: \(yaml), on_update: '\(yaml)' }"
    guard
      case .addColumn(_, let column) = try operation(
        "  - add_column: { table: t, column: { name: a, references: \(reference) } }")
    else { return #expect(Bool(false)) }
    #expect(column.references?.onDelete == expected)
    #expect(column.references?.onUpdate == expected)
  }

  @Test("two Unicode forms of a character are two keys, as they are two names in SQLite")
  func normalization() throws {
    guard
      case .insert(_, let rows) = try operation(
        "  - insert: { table: t, rows: [{ \u{E9}: 1, e\u{301}: 2 }] }")
    else { return #expect(Bool(false)) }
    #expect(rows.first?.count == 2)
  }

  @Test(
    "a version of SQLite is two or three numbers",
    arguments: [
      ("3.37", 3_037_000), ("3.37.2", 3_037_002), ("3", nil), ("+3.37", nil), ("3.1000", nil),
      ("3.37.2.1", nil), ("3.", nil), ("", nil), ("3.a", nil), ("-3.4", nil),
    ])
  func versions(text: String, number: Int?) {
    #expect(SQLiteVersion(text)?.number == number)
  }

  @Test(
    "only valid calendar dates are dates",
    arguments: [
      ("2027-01-31", true), ("2028-02-29", true), ("2000-02-29", true), ("2027-02-29", false),
      ("1900-02-29", false), ("2027-04-31", false), ("2027-13-01", false), ("2027-00-10", false),
      ("2027-01-00", false), ("2027-1-1", false), ("20270101", false), ("tomorrow", false),
    ])
  func dates(text: String, isDate: Bool) {
    let yaml = "operations: []\nlint: { allow: [{ rule: r, reason: x, until: \(text) }] }\n"
    #expect(problems(yaml).isEmpty == isDate)
  }
}
