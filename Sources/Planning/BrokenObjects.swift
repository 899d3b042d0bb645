import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// A view or a trigger that no longer compiles.
package struct BrokenObject: Sendable {
  package let object: SchemaObject
  /// SQLite's message: `no such column: NEW.amuont`.
  package let message: String
  /// It compiled until an ALTER TABLE was tried.
  var isBrokenByChange = false
}

extension Schema {
  /// The views and triggers that do not compile. SQLite looks at all of them when it renames any
  /// table, and names the first one that is broken (ALTER TABLE, section 2).
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
      }
    }
    return broken
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
    let names = broken.map { "\($0.object.kind.rawValue) \($0.object.name) (\($0.message))" }
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
          broken.last?.isBrokenByChange ?? false || error.message.contains(" after rename: ")
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
