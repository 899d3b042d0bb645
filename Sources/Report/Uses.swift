import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The views and triggers that read or write each table, as SQLite's authorizer reports them when it compiles
/// them.
struct Uses: Sendable {
  /// The users of each table.
  private(set) var users: [Identifier: [SchemaDelta.Key]] = [:]

  /// Compiles the views and triggers of a schema. Skips those that do not compile.
  ///
  /// - Throws: if the scratch database fails.
  init(of schema: Schema, _ application: Application) throws(DatabaseError) {
    let connection = try schema.scratch(application)
    for view in schema.objects where view.kind == .view {
      let found = try events(of: "SELECT * FROM \(Quoting.quoted(view.name))", on: connection)
      for event in found { note(event, view.key) }
    }
    let triggers = schema.objects.filter { $0.kind == .trigger }
    var known: Set<Identifier> = []
    for table in triggers.map(\.table) where known.insert(table.identifier).inserted {
      for event in [CreateTrigger.Event.insert, .delete, .update] {
        let statement = try connection.statement(firing: event, on: table)
        for event in try events(of: statement, on: connection) {
          guard let trigger = triggers.first(where: { $0.name == event.trigger }) else { continue }
          note(event, trigger.key)
        }
      }
    }
  }

  private mutating func note(_ event: AuthorizerEvent, _ use: SchemaDelta.Key) {
    guard [.read, .insert, .update, .delete].contains(event.action), let table = event.first,
      table.identifier != use.name, !(users[table] ?? []).contains(use)
    else { return }
    users[table, default: []].append(use)
  }

  private func events(
    of sql: String, on connection: Connection
  ) throws(DatabaseError) -> [AuthorizerEvent] {
    var events: [AuthorizerEvent] = []
    connection.setAuthorizer { event in
      events.append(event)
      return .allow
    }
    defer { connection.setAuthorizer(nil) }
    do {
      _ = try connection.prepare(sql)
    } catch  where !error.isFault {
      return []
    }
    return events
  }
}
