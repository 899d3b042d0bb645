import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// What SQLite's RENAME COLUMN does to a schema: the oracle for what mentions a column.
struct ColumnRenaming {
  /// The schema afterwards; nil when the RENAME is refused because of something that does not
  /// mention the column (one broken view blocks it on every table).
  let result: Schema?
  /// The objects that mention the column, as named in messages: parts of its own table first.
  let dependents: [String]
  /// Whether constraints of the table are among them, which no operation drops.
  let hasConstraint: Bool
  /// Those of them that are not parts of the table.
  let others: [String]
  /// What no RENAME rewrites, either: full-text tables that read the column by its name.
  let unwritable: [String]
  /// The objects that prevent SQLite from renaming anything, as named in messages.
  let blocking: [String]
  /// What the RENAME would break, and how; nil when it is nothing.
  let breaking: String?
  /// Whether objects other than the table get another text.
  let rewritesOthers: Bool

  init(
    table: SchemaObject, from: String, to: String, in schema: Schema, _ application: Application
  ) throws {
    let scratch = try schema.scratch(application)
    let (blocking, current) = try scratch.alter(
      "ALTER TABLE \(Quoting.quoted(table.name)) RENAME COLUMN "
        + "\(Quoting.quoted(from)) TO \(Quoting.quoted(to))")
    let after = try Schema(of: scratch)
    let others = current.objects.filter { object in
      guard object.sql != nil, !(object.kind == .table && object.name == table.name) else {
        return false
      }
      return after.object(object.kind, object.name)?.sql != object.sql
    }
    let mentioning = others.filter { object in
      !object.differsByQuotingOnly(from: after.object(object.kind, object.name))
    }
    let broken = blocking.map(\.object).filter { TokenizedSQL($0.sql ?? "").names(from) }
    result = blocking.isEmpty ? after : nil
    rewritesOthers = !others.isEmpty
    self.blocking = blocking.filter { !$0.isBrokenByChange }
      .map { "the broken \($0.object.kind.rawValue) \($0.object.name)" }
    let breaking = blocking.filter(\.isBrokenByChange)
    self.breaking = breaking.first.map { first in
      breaking.map { "\($0.object.kind.rawValue) \($0.object.name)" }.joined(separator: ", ")
        + " (\(first.message))"
    }
    unwritable = schema.tables.filter { $0.reads(from, of: table.name) }
      .map { "virtual table \($0.name)" }
    self.others = (mentioning + broken).map {
      "\($0.kind == .table ? "a foreign key of table" : $0.kind.rawValue) \($0.name)"
    }
    let (columns, constraints) = try inTable(table, from: from, after: after)
    hasConstraint = !constraints.isEmpty
    dependents = columns + constraints + self.others
  }
}

/// The parts of the table's own text that mention the column, its own definition apart.
private func inTable(
  _ table: SchemaObject, from: String, after: Schema
) throws -> (columns: [String], constraints: [String]) {
  guard let renamed = after.table(table.name) else { return ([], []) }
  let old = try ParsedTable(table)
  let new = try ParsedTable(renamed)
  func isSame(_ a: Range<Int>, _ b: Range<Int>) -> Bool {
    old.tokens.normalTokens(in: a) == new.tokens.normalTokens(in: b)
  }
  let columns = zip(old.parsed.columns, new.parsed.columns)
    .filter { !$0.name.isSame(as: from) && !isSame($0.range, $1.range) }
    .map {
      "\($0.0.generated != nil ? "generated column" : "a constraint of column") \($0.0.name.text)"
    }
  let constraints = zip(old.parsed.constraints, new.parsed.constraints)
    .filter { !isSame($0.range, $1.range) }.map { old.tokens.text($0.0.range) }
  return (columns, constraints)
}

extension SchemaObject {
  /// RENAME COLUMN turns "text" into 'text' in views and triggers that mention the table.
  fileprivate func differsByQuotingOnly(from other: SchemaObject?) -> Bool {
    guard let sql, let theirs = other?.sql else { return false }
    let a = TokenizedSQL(sql)
    let b = TokenizedSQL(theirs)
    guard a.significant.count == b.significant.count else { return false }
    return zip(a.significant, b.significant).allSatisfy { x, y in
      if a.text(x) == b.text(y) { return true }
      return x.kind == .quotedIdentifier && y.kind == .string
        && Quoting.unquoted(a.text(x)) == Quoting.unquoted(b.text(y))
    }
  }

  /// Whether this is a full-text table over that table's column: `content='t'`, be the column among
  /// its own or its `content_rowid` (FTS5 External Content Tables).
  ///
  /// - Parameter column: nil is any, and the table itself.
  func reads(_ column: String?, of table: String) -> Bool {
    // Virtual tables have no b-tree of their own.
    guard rootPage == 0 else { return false }
    let tokens = TokenizedSQL(sql ?? "")
    guard case .createVirtualTable(let virtual)? = try? parseCreate(tokens) else { return false }
    let arguments = virtual.arguments.map { tokens.significant(in: $0).map(tokens.text) }
    let isOver = arguments.contains { words in
      words.count == 3 && words[0].identifier == "content" && words[1] == "="
        && Quoting.unquoted(words[2]).identifier == table.identifier
    }
    guard isOver, let column else { return isOver }
    return arguments.contains { words in
      let isRowid =
        words.count == 3 && words[0].identifier == "content_rowid" && words[1] == "="
      return (isRowid ? words.last : words.first).map { Quoting.unquoted($0).identifier }
        == column.identifier
    }
  }
}

extension ParsedTable {
  /// The constraints for which SQLite drops no such column (ALTER TABLE, section 5), each as it is
  /// written. It names none of them itself.
  func constraints(keeping column: String) -> [String] {
    let own = parsed.columns.first { $0.name.isSame(as: column) }?.constraints ?? []
    let inline = own.filter { constraint in
      switch constraint.kind {
      case .primaryKey, .unique: true
      default: false
      }
    }.map(\.range)
    let others = parsed.columns.filter { !$0.name.isSame(as: column) }.flatMap(\.constraints)
      .filter { constraint in
        switch constraint.kind {
        case .check(let expression): mentions(column, in: expression.range)
        case .generated(let generated): mentions(column, in: generated.expression.range)
        default: false
        }
      }.map(\.range)
    let table = parsed.constraints.filter { constraint in
      switch constraint.kind {
      case .primaryKey(let terms, _, _), .unique(let terms, _):
        terms.contains { $0.column?.isSame(as: column) ?? false }
      case .foreignKey(let columns, _): columns.contains { $0.isSame(as: column) }
      case .check(let expression, _): mentions(column, in: expression.range)
      case .nameOnly: false
      }
    }.map(\.range)
    return (inline + others + table).map(tokens.text)
  }

  /// Whether a bare word is the column; one in double quotes might be a text.
  private func mentions(_ column: String, in range: Range<Int>) -> Bool {
    tokens.columnIdentifiers(in: range).contains { name in
      name.isSame(as: column) && tokens.bytes[name.range.lowerBound] != UInt8(ascii: "\"")
    }
  }
}
