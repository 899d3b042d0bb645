import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The effect of SQLite's RENAME COLUMN on a schema. It shows which objects mention a column.
struct ColumnRenaming {
  /// The schema after the RENAME. Nil if an object prevents the RENAME: one broken view prevents it on every
  /// table.
  let result: Schema?
  /// The objects that mention the column, as named in messages: parts of its own table first.
  let dependents: [String]
  /// Whether `dependents` includes constraints of the table. No operation drops those alone.
  let hasConstraint: Bool
  /// The elements of `dependents` that are not parts of the table.
  let others: [String]
  /// The full-text tables that read the column by its name, as named in messages. RENAME does not rewrite
  /// them.
  let unwritable: [String]
  /// The objects that were broken before and prevent SQLite from renaming anything, as named in messages.
  let blocking: [String]
  /// The objects that the RENAME would break, with SQLite's message; nil if it breaks none.
  let breaking: String?
  /// The error message about these objects; nil if the RENAME breaks none.
  let obstacle: String?
  /// Whether RENAME changes the SQL of objects other than the table.
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
    obstacle = self.breaking.map { breaking in
      "renaming `\(table.name).\(from)` would break \(breaking): SQLite does not rewrite objects "
        + "that read the column from another view or by USING. Drop them first, and create them "
        + "again afterwards"
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

/// The columns and constraints of the table that mention the column, except its own definition.
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
  /// Whether the two texts differ only in the quotes of strings: RENAME COLUMN turns "text" into 'text' in
  /// views and triggers that mention the table.
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

  /// Whether this is a full-text table with `content='table'` that reads the column: as one of its own
  /// columns or as its `content_rowid` (FTS5 External Content Tables).
  ///
  /// - Parameter column: nil for any column of the table.
  func reads(_ column: String?, of table: String) -> Bool {
    // Virtual tables have no root page.
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

/// A view or a trigger that does not compile, or a trigger whose UPDATE OF names a missing column.
package struct BrokenObject: Sendable {
  package let object: SchemaObject
  /// SQLite's message, such as `no such column: NEW.amuont`.
  package let message: String
  /// Whether it compiled until an ALTER TABLE was tried.
  var isBrokenByChange = false
  /// The column of UPDATE OF that the table does not have. The trigger compiles, but never fires for that
  /// column.
  package var missingColumn: String?
}

extension Schema {
  /// The views and triggers that do not compile, and the triggers whose UPDATE OF names a missing column.
  ///
  /// A RENAME of any table makes SQLite compile all views and triggers, and report the first broken one
  /// (ALTER TABLE, section 2).
  ///
  /// - Parameter allowsQuotedStrings: whether an unknown name in double quotes is a string. That is SQLite's
  ///   default; an application can turn it off.
  package func brokenObjects(
    _ application: Application, allowsQuotedStrings: Bool = true
  ) throws(DatabaseError) -> [BrokenObject] {
    // The time to recreate a schema grows with the square of its size.
    guard objects.contains(where: { [.view, .trigger].contains($0.kind) }) else { return [] }
    let scratch = try scratch(application)
    try scratch.execute("CREATE TABLE schemactl_probe (a)")
    // The application's own connections have this setting, which lets a trigger write to a full-text table.
    scratch.set(.trustedSchema, to: true)
    scratch.set(.doubleQuotedStringsInDML, to: allowsQuotedStrings)
    scratch.set(.doubleQuotedStringsInDDL, to: allowsQuotedStrings)
    var (broken, rest) = try scratch.alter(
      "ALTER TABLE schemactl_probe RENAME TO schemactl_renamed")
    // RENAME accepts unknown functions and collations.
    for object in rest.objects where object.kind == .view {
      do {
        _ = try scratch.prepare("SELECT * FROM main.\(Quoting.quoted(object.name))")
      } catch  where !error.isFault {
        broken.append(BrokenObject(object: object, message: error.message))
      }
    }
    // SQLite checks the columns that a trigger sets only when it compiles the trigger for its event.
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

  /// The triggers of a table whose UPDATE OF names the column. SQLite drops such a column without an error.
  func triggers(onUpdateOf column: String, in table: String) -> [SchemaObject] {
    objects(.trigger, on: table).filter { trigger in
      trigger.createTrigger?.columns.contains { $0.isSame(as: column) } ?? false
    }
  }
}

extension SchemaDelta {
  /// The views and triggers that a migration has broken, as an error message; nil if there are none. An
  /// object counts if it compiled before the migration under the same name. SQLite does not check such
  /// objects when a table is dropped and recreated.
  ///
  /// Only a migration that writes rows of an existing table and changes the definition of an object that it
  /// does not drop is checked.
  ///
  /// - Parameters:
  ///   - old: the schema before the migration.
  ///   - now: the schema after it.
  ///   - written: the tables whose rows the migration writes.
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
  /// SQLite's error when it compiles the trigger for the statement that fires it; nil if it compiles.
  fileprivate func complaint(
    about object: SchemaObject, among schema: Schema
  ) throws(DatabaseError) -> String? {
    guard let trigger = object.createTrigger else { return nil }
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
    guard let columns = trigger.createTrigger?.columns, !columns.isEmpty else { return nil }
    let present = try rows("SELECT name FROM pragma_table_xinfo(?1)", [.text(trigger.table)])
      .compactMap { $0[0].text?.identifier }
    let known = Set(present + Identifier.rowids)
    return columns.first { !known.contains($0.text.identifier) }?.text
  }

  /// A statement that fires the triggers of a table or a view. SQLite compiles them when it prepares it.
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
  /// Runs an ALTER TABLE on a scratch database. Views and triggers that prevent it are dropped first.
  ///
  /// - Returns: the dropped objects, and the schema just before the ALTER TABLE succeeds.
  /// - Throws: SQLite's error, if it does not name a view, a trigger or an index.
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
        // SQLite checks all objects before the change, and again after it. So if one object is broken by the
        // change, the objects reported later compiled before it as well, or they read an object that this
        // loop has dropped.
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
  /// The beginnings of SQLite's messages about this object, such as `error in view v after rename:`.
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
