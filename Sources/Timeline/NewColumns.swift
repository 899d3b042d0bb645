import SchemaManifest
import SchemaSQLText

extension TableChange {
  /// The new columns that every INSERT must set. `isFilled` is whether existing rows get a value,
  /// or whether trials on rows decide that.
  package func requiredColumns(
    _ timeline: Timeline
  ) -> [(column: TableShape.Column, place: StatementPlace, isFilled: Bool)] {
    guard let before, let after else { return [] }
    return after.columns.compactMap { column in
      guard before.column(column.key) == nil, column.notNull != nil, column.defaultText == nil,
        !column.isGenerated,
        !after.isInPrimaryKey(column), !onlyRenames(column)
      else { return nil }
      let place = newest(of: [place(of: column.name)])
      return (
        column, place,
        timeline.fills(column.name, place) || timeline.losses.ran(on: self)
          || timeline.losses.isUntried(self, timeline)
      )
    }
  }

  /// Whether the column existed under another name and already refused NULL.
  private func onlyRenames(_ column: TableShape.Column) -> Bool {
    lost.contains { lost in
      guard case .renamed(let name) = lost.outcome, before?.column(lost.name)?.notNull != nil else {
        return false
      }
      return name.identifier == column.name.identifier
    }
  }
}

extension Timeline {
  /// Whether the operation that creates the column also sets it in each row.
  fileprivate func fills(_ column: String, _ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .moveColumn?: return operation(place)?.definition(ofColumn: column) != nil
    case .rebuildTable(let rebuild)?:
      return rebuild.copy.contains { $0.column.identifier == column.identifier }
    default: return false
    }
  }
}

extension Operation {
  /// The definition of a column in the operation, if it has one.
  package func definition(ofColumn name: String) -> ColumnDefinition? {
    let columns: [ColumnDefinition] =
      switch kind {
      case .createTable(let table): table.columns
      case .rebuildTable(let rebuild): rebuild.table.columns
      case .addColumn(_, let column): [column]
      case .moveColumn(let move): [move.to]
      default: []
      }
    return columns.first { $0.name.isSameName(as: name) }
  }
}
