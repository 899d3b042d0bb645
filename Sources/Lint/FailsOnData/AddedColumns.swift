import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Timeline {
  /// Columns that SQLite can add to an empty table but not to one with rows.
  var unaddableColumns: [Draft] {
    changes.flatMap { change -> [Draft] in
      guard let after = change.after else { return [] }
      return nonConstantDefaults(change, after) + columnsWithoutValue(change, after)
        + storedColumns(change, after)
    }
  }

  private func nonConstantDefaults(_ change: TableChange, _ after: TableShape) -> [Draft] {
    change.nonConstantDefaults.sorted().compactMap { name in
      guard let column = after.column(name) else { return nil }
      return draft(
        column, of: after,
        "cannot be added to a table with rows: its default \(column.defaultText ?? "") is not a "
          + "constant",
        at: change.place(of: name))
    }
  }

  private func columnsWithoutValue(_ change: TableChange, _ after: TableShape) -> [Draft] {
    change.requiredColumns(self).filter { !$0.isFilled }.map { column, place, _ in
      draft(
        column, of: after, "is NOT NULL and existing rows have no value for it", at: place,
        fix: operation(place)?.definition(ofColumn: column.name)?.withDefault())
    }
  }

  private func storedColumns(_ change: TableChange, _ after: TableShape) -> [Draft] {
    change.addedInPlace.sorted().compactMap { name in
      guard let column = after.column(name), column.isStored else { return nil }
      let place = change.place(of: name)
      var virtual = operation(place)?.definition(ofColumn: column.name)
      virtual?.generated?.stored = false
      return draft(
        column, of: after, "cannot be added to a table with rows: it is STORED", at: place,
        fix: virtual)
    }
  }

  private func draft(
    _ column: TableShape.Column, of table: TableShape, _ problem: String, at place: StatementPlace,
    fix: ColumnDefinition? = nil
  ) -> Draft {
    draft(
      "the new column `\(table.name).\(column.name)` \(problem)", about: column, of: table,
      at: place, keys: ["column", "columns", "table"], fix: fix?.yaml)
  }
}
