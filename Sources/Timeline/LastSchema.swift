import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText

/// The schema after the last migration, with the statements that created its parts.
package struct LastSchema: Sendable {
  package struct Table: Sendable {
    package let shape: TableShape
    /// The statements that created the table and that gave it its current form.
    package let created: StatementPlace
    package let shaped: StatementPlace
    /// By folded name.
    package let columnPlaces: [Identifier: StatementPlace]

    package func place(of column: String) -> StatementPlace {
      columnPlaces[column.identifier] ?? shaped
    }
  }

  /// Excludes the shadow tables of virtual tables.
  package var tables: [Table] = []
  /// The names of all tables, including those whose definition cannot be parsed.
  package var tableNames: Set<Identifier> = []
  package var objects: [(place: StatementPlace, object: SchemaObject)] = []
  /// Views and triggers that do not compile.
  package var broken: [(place: StatementPlace, object: BrokenObject)] = []
  /// Views and triggers that contain a string in double quotes.
  package var doubleQuoted: [(place: StatementPlace, object: BrokenObject)] = []
  /// Defaults that call an undeclared function.
  package var missing: [(table: Table, column: String, name: MissingName)] = []

  /// - Parameters:
  ///   - broken: views and triggers that do not compile.
  ///   - doubleQuoted: views and triggers that do not compile if SQLite rejects strings in double
  ///     quotes.
  ///   - table: returns a table by name, as the replay tracked it.
  init(
    _ schema: Schema, broken: [BrokenObject], doubleQuoted: [BrokenObject],
    _ tracker: ObjectTracker, _ probe: Probe, table: (Identifier) -> TrackedTable?
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
        tables.append(
          Table(
            shape: table.shape, created: table.created, shaped: table.shaped,
            columnPlaces: table.columnPlaces))
      } else if let maker = tracker.makers[object.key] {
        objects.append((maker.place, object))
      }
    }
    missing = tables.flatMap { table in
      table.shape.columns.compactMap { column in
        guard let name = column.defaultText.flatMap(probe.missingName) else { return nil }
        return (table, column.name, name)
      }
    }
  }
}
