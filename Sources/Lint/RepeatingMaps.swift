import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Timeline {
  /// Findings for maps of `move_column` that may give rows equal values in unique columns.
  /// Generated rows rarely contain values of the map, so that trials on rows do not find such maps.
  var repeatedByMaps: [Draft] {
    moves.flatMap { place, move, table -> [Draft] in
      let migration = place.migration
      guard case .map(let entries) = move.mapping,
        let change = change(of: move.table, in: migration), let after = change.after
      else { return [] }
      let new = move.to.name.identifier
      let effect = move.repetition(of: entries, in: table)
      let indexes = indexes.filter {
        $0.place.migration == migration && $0.table.identifier == after.key
      }
      let formerIndexes =
        removed.filter { $0.place.migration == migration }.compactMap { self.index($0) }
        + indexes.compactMap(\.before)
      let former: [[Identifier?]] =
        table.keys
        + formerIndexes.filter { $0.isUnique && $0.condition == nil }.map(\.columns)
      // The earlier keys with the names that their columns have after the migration; nil for an
      // expression or a dropped column.
      let known = former.map { columns in
        columns.map { $0 == move.from.identifier ? new : $0.flatMap { change.renamed([$0])?[0] } }
      }
      func mayRepeat(_ columns: [Identifier?]) -> Bool {
        let others = columns.compactMap { $0 }.filter { $0 != new }
        // An expression may read the column.
        return columns.contains { $0 == nil || $0 == new } && !after.hasKey(within: others)
          && (effect != nil
            || !known.contains { Set($0).isSubset(of: Set(columns).subtracting([nil])) })
      }
      func draft(_ key: String, _ object: String, at place: StatementPlace) -> Draft {
        var draft = self.draft(
          "\(key) fails \(effect.map { "(the map \($0)) " } ?? "")if two rows of `\(after.name)` "
            + "hold the same values",
          at: place, keys: ["unique", "map", "columns"], object: object, table: after.name,
          severity: .warning)
        draft.constraint = .unique
        return draft
      }
      let constraints = after.keys.filter { mayRepeat($0) }.map { columns -> Draft in
        let names = after.list(of: columns)
        return draft(
          "`UNIQUE (\(names))` of `\(after.name)`", "\(after.name).\(names)",
          at: change.place(ofConstraintOver: columns))
      }
      return constraints
        + indexes.filter { mayRepeat($0.columns) }.map {
          draft("the unique index `\($0.name)`", $0.name, at: $0.place)
        }
    }
  }
}

extension MoveColumn {
  /// How the map makes different values equal, as a phrase after "the map". Nil if all values
  /// remain different, or if SQLite cannot compare them because of a collation of the application.
  fileprivate func repetition(of entries: [MappedValue], in table: TableShape) -> String? {
    let mayBeNull = table.column(from)?.notNull == nil
    if mayBeNull, entries.contains(where: { $0.from == .null && $0.to != .null }) {
      return "gives each NULL of \(from) the same value"
    }
    let column = "\(to.type ?? "")\(to.collate.map { " COLLATE \(Quoting.quoted($0))" } ?? "")"
    do {
      let connection = try Connection(path: nil)
      try connection.execute(
        "CREATE TABLE t (old TEXT, c \(column))\(table.isStrict ? " STRICT" : "")")
      for entry in entries {
        try connection.execute(
          "INSERT INTO t VALUES (\(Quoting.stringLiteral(entry.from.sql)), \(entry.to.sql))")
      }
      let same = try connection.rows(
        "SELECT a.old || ' and ' || b.old FROM t a JOIN t b ON a.c = b.c AND a.rowid < b.rowid LIMIT 1"
      )
      return same.first?[0].text.map { "makes \($0) of \(from) the same" }
    } catch {
      return nil
    }
  }
}
