import SchemaModel
import SchemaPlanning
import SchemaSQLText

/// The schema after the last migration, with the statements that created its parts.
package struct LastSchema: Sendable {
  /// Excludes the shadow tables of virtual tables.
  package var tables: [TrackedTable] = []
  /// The names of all tables, including those whose definition cannot be parsed.
  package var tableNames: Set<Identifier> = []
  package var objects: [CreatedObject] = []
  /// Views and triggers that do not compile.
  package var broken: [(place: StatementPlace, object: BrokenObject)] = []
  /// Views and triggers that contain a string in double quotes.
  package var doubleQuoted: [(place: StatementPlace, object: BrokenObject)] = []

  /// - Parameters:
  ///   - broken: views and triggers that do not compile.
  ///   - doubleQuoted: views and triggers that do not compile if SQLite rejects strings in double
  ///     quotes.
  ///   - table: returns a table by name, as the replay tracked it.
  init(
    _ schema: Schema, broken: [BrokenObject], doubleQuoted: [BrokenObject],
    _ tracker: ObjectTracker, table: (Identifier) -> TrackedTable?
  ) {
    func placed(_ objects: [BrokenObject]) -> [(StatementPlace, BrokenObject)] {
      objects.compactMap { object in
        tracker.makers[object.object.key].map { ($0.place, object) }
      }
    }
    self.broken = placed(broken)
    self.doubleQuoted = placed(doubleQuoted)
    for object in schema.objects {
      if object.kind == .table {
        tableNames.insert(object.name.identifier)
        guard let table = table(object.name.identifier), !table.isShadow else { continue }
        tables.append(table)
      } else if let maker = tracker.makers[object.key] {
        objects.append(CreatedObject(object: object, place: maker.place))
      }
    }
  }
}

extension Timeline {
  /// A timeline in which one migration creates the history's latest schema. Each object keeps its
  /// original place. Nil if the replay did not reach the end.
  package var standing: Timeline? {
    guard let end else { return nil }
    var standing = Timeline(migrations: migrations)
    standing.changes = end.tables.sorted { $0.created.number < $1.created.number }.map { table in
      TableChange(
        migration: table.created.migration, before: nil, after: table.shape,
        columnPlaces: table.columnPlaces, shaped: table.created)
    }
    standing.statements = statements
    standing.made = end.objects
    let made = Set(standing.made.map(\.place))
    standing.indexes = indexes.filter { made.contains($0.place) }
    return standing
  }
}
