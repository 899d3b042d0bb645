import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension RowFailures {
  /// The columns that become NOT NULL, by the table before the migration.
  var newlyRequired: [Identifier: [TableShape.Column]] {
    Dictionary(
      timeline.changes(in: migration).compactMap { change in
        let columns = change.keptColumns.filter { $0.old.notNull == nil && $0.new.notNull != nil }
        return change.before.map { ($0.key, columns.map(\.new)) }
      }.filter { !$0.1.isEmpty }, uniquingKeysWith: { first, _ in first })
  }

  /// The failure of a column that becomes NOT NULL if another table lacks the values with which the migration
  /// replaces NULL: the table has no row for them or, if its rows must exist, NULL in their columns.
  func failureOfLookup(in experiment: Experiment) throws(Failure) -> RowFailure? {
    let (tables, required) = (history.affected[migration], newlyRequired)
    let parents = required.keys.flatMap { experiment.database.ancestors(of: $0) }
    for name in tables.all.subtracting(tables.changed).subtracting(required.keys).sorted()
    where !required.isEmpty && !history.hasRows(name, before: migration) {
      guard let shape = experiment.database.tables[name]?.shape else { continue }
      let cleared = shape.columns.filter { !$0.isNotNull && !$0.isInKey }.map { column in
        Experiment.Change.reset(
          table: shape.name, address: "1", column: column.name, value: "NULL")
      }
      let isParent = parents.contains(name)
      let removed = Experiment.Change.remove(table: shape.name, address: "1")
      guard try experiment.run(isParent ? cleared : [removed]) == nil,
        let failure = experiment.failure, failure.status == .migrationFailed
      else { continue }
      let found = FailureAnalysis(failure, migration, timeline).failure
      let columns = found.tables.flatMap { required[$0] ?? [] }
      if found.constraint == .notNull, columns.contains(where: { found.words.contains($0.key) }) {
        return found
      }
    }
    return nil
  }
}
