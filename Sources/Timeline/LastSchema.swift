import SchemaModel
import SchemaPlanning
import SchemaSQLText

/// The schema after the last migration, with the statements that created its parts.
package struct LastSchema: Sendable {
  /// The tables, except the shadow tables of virtual tables.
  package var tables: [TrackedTable] = []
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
        tracker.creators[object.object.key].map { ($0.place, object) }
      }
    }
    self.broken = placed(broken)
    self.doubleQuoted = placed(doubleQuoted)
    for object in schema.objects {
      if object.kind == .table {
        guard let table = table(object.name.identifier), !table.isShadow else { continue }
        tables.append(table)
      } else if let maker = tracker.creators[object.key] {
        objects.append(CreatedObject(object: object, place: maker.place))
      }
    }
  }
}

extension Timeline {
  /// The change that gave a table of the latest schema a property: the earliest change after which
  /// the table always had it. The search follows renames of the table and of its columns.
  ///
  /// - Parameters:
  ///   - property: returns whether an earlier form of the table has the property; it gets the names
  ///     that the columns had then.
  ///   - columns: the latest names of the columns.
  package func origin(
    of property: (TableShape, [Identifier]) -> Bool, over columns: [Identifier] = [],
    in table: TableShape
  ) -> TableChange? {
    var (name, columns) = (table.key, columns)
    var origin: TableChange?
    for change in changes.reversed() where change.after?.key == name {
      origin = change
      let old = change.renamedColumns
      columns = columns.map { name in old.first { $0.value == name }?.key ?? name }
      guard let before = change.before, property(before, columns) else { break }
      name = before.key
    }
    return origin
  }
}
