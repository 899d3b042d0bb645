import SchemaSQLText

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
    standing.made = end.objects.map { CreatedObject(object: $0.object, place: $0.place) }
    let made = Set(standing.made.map(\.place))
    standing.indexes = indexes.filter { made.contains($0.place) }
    return standing
  }
}
