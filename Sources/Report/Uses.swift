import SchemaDiagram
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The views and triggers that read or write tables, as SQLite's authorizer reports them during
/// compilation.
struct Uses: Sendable {
  struct Use: Sendable, Hashable {
    let kind: SchemaObject.Kind
    let name: Identifier
  }

  /// By the table.
  private(set) var users: [Identifier: [Use]] = [:]

  /// - Throws: when the scratch database fails. Views and triggers that do not compile are omitted.
  init(of schema: Schema, _ application: Application) throws(DatabaseError) {
    let connection = try schema.scratch(application)
    for view in schema.objects where view.kind == .view {
      let found = try events(of: "SELECT * FROM \(Quoting.quoted(view.name))", on: connection)
      for event in found { note(event, .init(kind: .view, name: view.name.identifier)) }
    }
    let triggers = schema.objects.filter { $0.kind == .trigger }
    var known: Set<Identifier> = []
    for table in triggers.map(\.table) where known.insert(table.identifier).inserted {
      for statement in try statements(firing: table, on: connection) {
        for event in try events(of: statement, on: connection) {
          guard let name = event.trigger, triggers.contains(where: { $0.name == name }) else {
            continue
          }
          note(event, .init(kind: .trigger, name: name.identifier))
        }
      }
    }
  }

  private mutating func note(_ event: AuthorizerEvent, _ use: Use) {
    guard [.read, .insert, .update, .delete].contains(event.action), let table = event.first,
      table.identifier != use.name, !(users[table] ?? []).contains(use)
    else { return }
    users[table, default: []].append(use)
  }

  private func statements(
    firing table: String, on connection: Connection
  ) throws(DatabaseError) -> [String] {
    let name = Quoting.quoted(table)
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden = 0", [.text(table)]
    ).compactMap { $0[0].text.map { Quoting.quoted($0) } }
    guard !columns.isEmpty else { return [] }
    let names = columns.joined(separator: ", ")
    let nulls = columns.map { _ in "NULL" }.joined(separator: ", ")
    return [
      "INSERT INTO \(name) (\(names)) VALUES (\(nulls))", "DELETE FROM \(name)",
      "UPDATE \(name) SET \(columns.map { "\($0) = \($0)" }.joined(separator: ", "))",
    ]
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
