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
      .map { "the broken \($0.object.kind.rawValue) `\($0.object.name)`" }
    let breaking = blocking.filter(\.isBrokenByChange)
    self.breaking = breaking.first.map { first in
      breaking.map { "\($0.object.kind.rawValue) `\($0.object.name)`" }.joined(separator: ", ")
        + " (\(first.message))"
    }
    unwritable = schema.tables.filter { $0.reads(from, of: table.name) }
      .map { "virtual table `\($0.name)`" }
    self.others = (mentioning + broken).map {
      "\($0.kind == .table ? "a foreign key of table" : $0.kind.rawValue) `\($0.name)`"
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
      "\($0.0.generated != nil ? "generated column" : "a constraint of column") `\($0.0.name.text)`"
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

/// A view or a trigger that no longer compiles.
package struct BrokenObject: Sendable {
  package let object: SchemaObject
  /// SQLite's message: `no such column: NEW.amuont`.
  package let message: String
  /// It compiled until an ALTER TABLE was tried.
  var isBrokenByChange = false
  /// The column of its UPDATE OF that the table lacks: the trigger compiles, but never fires for it.
  package var missingColumn: String?
}

extension Schema {
  /// The views and triggers that do not compile, and the triggers whose UPDATE OF names a missing
  /// column. SQLite looks at all views and triggers when it renames any table, and names the first
  /// one that is broken (ALTER TABLE, section 2).
  ///
  /// - Parameter allowsQuotedStrings: whether a name in double quotes that nothing has is a string,
  ///   as it is to SQLite unless the application forbids it.
  package func brokenObjects(
    _ application: Application, allowsQuotedStrings: Bool = true
  ) throws(DatabaseError) -> [BrokenObject] {
    // To make a schema again takes time that grows with its square.
    guard objects.contains(where: { [.view, .trigger].contains($0.kind) }) else { return [] }
    let scratch = try scratch(application)
    try scratch.execute("CREATE TABLE schemactl_probe (a)")
    // As on the application's own connections, where a trigger may write a search index.
    scratch.set(.trustedSchema, to: true)
    scratch.set(.doubleQuotedStringsInDML, to: allowsQuotedStrings)
    scratch.set(.doubleQuotedStringsInDDL, to: allowsQuotedStrings)
    var (broken, rest) = try scratch.alter(
      "ALTER TABLE schemactl_probe RENAME TO schemactl_renamed")
    // A column that a trigger sets is looked for only when the trigger is compiled for its event.
    for object in rest.objects where object.kind == .trigger {
      if let message = try scratch.complaint(about: object, among: rest) {
        broken.append(BrokenObject(object: object, message: message))
      } else if let column = try scratch.missingColumn(ofTrigger: object) {
        broken.append(
          BrokenObject(
            object: object, message: "no such column: \(object.table).\(column)",
            missingColumn: column))
      }
    }
    return broken
  }

  /// The triggers of a table whose UPDATE OF names a column. SQLite drops the column nevertheless.
  func triggers(onUpdateOf column: String, in table: String) -> [SchemaObject] {
    objects(.trigger, on: table).filter { trigger in
      trigger.updatedColumns.contains { $0.isSame(as: column) }
    }
  }
}

extension SchemaObject {
  /// The columns of a trigger's UPDATE OF.
  fileprivate var updatedColumns: [Name] {
    guard case .createTrigger(let trigger)? = try? parseCreate(TokenizedSQL(sql ?? "")) else {
      return []
    }
    return trigger.columns
  }
}

extension SchemaDelta {
  /// The views and triggers that a migration has broken, in words: they compiled before it, under the same names.
  /// SQLite does not check them when a table is dropped and recreated.
  ///
  /// Only a migration that writes rows of a table that was there, and changes the definition of what
  /// stays, is looked at closer.
  ///
  /// - Parameters:
  ///   - old: the schema before the migration, and after it.
  ///   - written: the tables whose rows it writes.
  package func brokenObjects(
    from old: Schema, to now: Schema, writing written: Set<Identifier>, _ application: Application
  ) throws(DatabaseError) -> String? {
    guard before.keys.contains(where: { after[$0] != nil }),
      written.contains(where: { old.table($0) != nil && now.table($0) != nil })
    else { return nil }
    var broken = try now.brokenObjects(application).filter {
      old.object($0.object.kind, $0.object.name) != nil
    }
    guard !broken.isEmpty else { return nil }
    let known = Set(try old.brokenObjects(application).map(\.object.key))
    broken.removeAll { known.contains($0.object.key) }
    guard !broken.isEmpty else { return nil }
    let names = broken.map { "\($0.object.kind.rawValue) `\($0.object.name)` (\($0.message))" }
    return "this migration breaks \(names.joined(separator: ", ")). Drop these objects "
      + "before the change and create them again after it"
  }
}

extension Connection {
  /// Why a trigger cannot be compiled for the statement that fires it; nil when it can.
  fileprivate func complaint(
    about object: SchemaObject, among schema: Schema
  ) throws(DatabaseError) -> String? {
    guard case .createTrigger(let trigger)? = try? parseCreate(TokenizedSQL(object.sql ?? ""))
    else { return nil }
    let statement = try self.statement(firing: trigger.event, on: object.table)
    try execute("SAVEPOINT one_trigger")
    for other in schema.objects(.trigger, on: object.table) where other.key != object.key {
      try execute("DROP TRIGGER \(Quoting.quoted(other.name))")
    }
    var complaint: String?
    do {
      _ = try prepare(statement)
    } catch  where !error.isFault {
      complaint = error.message
    }
    try execute("ROLLBACK TO one_trigger; RELEASE one_trigger")
    return complaint
  }

  /// The first column of a trigger's UPDATE OF that its table or view does not have.
  fileprivate func missingColumn(ofTrigger trigger: SchemaObject) throws(DatabaseError) -> String? {
    let columns = trigger.updatedColumns
    guard !columns.isEmpty else { return nil }
    let present = try rows("SELECT name FROM pragma_table_xinfo(?1)", [.text(trigger.table)])
      .compactMap { $0[0].text?.identifier }
    let known = Set(present + Identifier.rowids)
    return columns.first { !known.contains($0.text.identifier) }?.text
  }

  /// A statement that fires the triggers of a table or a view, so that SQLite compiles them.
  package func statement(
    firing event: CreateTrigger.Event, on table: String, of schema: String? = nil
  ) throws(DatabaseError) -> String {
    let name = (schema.map { Quoting.quoted($0) + "." } ?? "") + Quoting.quoted(table)
    switch event {
    case .insert: return "INSERT INTO \(name) DEFAULT VALUES"
    case .delete: return "DELETE FROM \(name)"
    case .update:
      let columns = try rows("SELECT name FROM pragma_table_info(?1)", [.text(table)])
        .compactMap { $0[0].text.map { Quoting.quoted($0) } }
      return "UPDATE \(name) SET \(columns.map { "\($0) = \($0)" }.joined(separator: ", "))"
    }
  }
}

extension Connection {
  /// Runs an ALTER TABLE on a scratch database, dropping what keeps SQLite from it.
  ///
  /// - Returns: the dropped objects, and the schema just before the ALTER.
  /// - Throws: when SQLite refuses it for another reason.
  func alter(_ sql: String) throws(DatabaseError) -> (broken: [BrokenObject], before: Schema) {
    var broken: [BrokenObject] = []
    var schema = try Schema(of: self)
    while true {
      do {
        try execute(sql)
        return (broken, schema)
      } catch {
        guard let culprit = schema.objects.first(where: { $0.isBlamed(in: error.message) }) else {
          throw error
        }
        // SQLite looks at all of them before the change and then after it: what comes behind the first
        // that the change breaks was well, too, or reads one that is dropped here.
        let isBrokenByChange =
          broken.last?.isBrokenByChange ?? false
          || [" after rename: ", " after drop column: "].contains { error.message.contains($0) }
        broken.append(
          BrokenObject(
            object: culprit, message: culprit.complaint(in: error.message),
            isBrokenByChange: isBrokenByChange))
        try execute("DROP \(culprit.kind.rawValue.uppercased()) \(Quoting.quoted(culprit.name))")
        schema = try Schema(of: self)
      }
    }
  }
}

extension SchemaObject {
  /// How SQLite's message begins when it blames this object: `error in view v after rename: …`.
  private var blame: [String] {
    [" after rename", " after drop column", ""].map { "error in \(kind.rawValue) \(name)\($0):" }
  }

  fileprivate func isBlamed(in message: String) -> Bool {
    kind != .table && blame.contains { message.hasPrefix($0) }
  }

  fileprivate func complaint(in message: String) -> String {
    guard let start = blame.first(where: { message.hasPrefix($0) }) else { return message }
    return String(message.dropFirst(start.count + 1))
  }
}
