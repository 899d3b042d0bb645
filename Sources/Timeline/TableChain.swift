import SchemaSQLText

/// A table and its successive replacements within a migration, with the outcome for its columns.
struct TableChain {
  /// The tables in order. The first one had the name at the beginning of the migration.
  let tables: [TrackedTable]
  /// The name of the table at the beginning of the migration.
  let name: String
  /// The statement that dropped or renamed the first table.
  let displaced: StatementPlace?
  let migration: Int

  /// The outcome for a column that no longer exists under its name; nil if it does exist.
  func lost(_ column: String) -> LostColumn? {
    guard let first = tables.first, let now = tables.last else { return nil }
    let key = column.identifier
    if let same = now.columns.first(where: { $0.key == key }) {
      // The name may belong to another old column now, or to one that was created after the loss
      // and so cannot have the values.
      let isNew =
        same.origin == nil
        && (first.losses[key].map { $0.number < same.created.number } ?? false)
      guard tables.count == 1, isNew || (same.origin.map { $0 != key } ?? false) else { return nil }
    }
    if let renamed = now.columns.first(where: { $0.origin == key }) {
      let renames = [now.renames[key], first.renames[key], displaced].compactMap { $0 }
      let place = renames.first { $0.migration == migration } ?? now.shaped
      return LostColumn(name: column, outcome: .renamed(to: renamed.name), place: place)
    }
    return LostColumn(name: column, outcome: .dropped, place: placeOfLoss(key) ?? now.shaped)
  }

  /// The statement that removed a column, or the last table with the column.
  private func placeOfLoss(_ key: Identifier) -> StatementPlace? {
    var place = displaced
    if let loss = tables.first?.losses[key] { return loss }
    for table in tables.dropFirst() {
      if let loss = table.losses[key] { return loss }
      guard table.columns.contains(where: { $0.origin == key }) else { break }
      place = table.left[name.identifier]
    }
    return place
  }
}
