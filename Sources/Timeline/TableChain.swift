import SchemaSQLText

/// A table and those that took its place one after another in a migration, and what became of its columns.
struct TableChain {
  /// The first had the name when the migration began.
  let tables: [TrackedTable]
  /// The name of the table then.
  let name: String
  /// The statement that took the name away from the first table.
  let displaced: StatementPlace?
  let migration: Int

  /// What became of a column that no longer exists under its name; nil if it does.
  func lost(_ column: String) -> LostColumn? {
    guard let first = tables.first, let now = tables.last else { return nil }
    let key = column.identifier
    if let same = now.columns.first(where: { $0.key == key }) {
      // Another old column may have taken the name, or one that is younger than the loss, and so
      // cannot have the values.
      let isNew =
        same.origin == nil
        && (first.losses[key].map { $0.number < same.created.number } ?? false)
      guard tables.count == 1, isNew || (same.origin.map { $0 != key } ?? false) else { return nil }
    }
    if let renamed = now.columns.first(where: { $0.origin == key }) {
      let renames = [now.renames[key], first.renames[key], displaced].compactMap { $0 }
      let place = renames.first { $0.migration == migration } ?? now.shaped
      return LostColumn(name: column, fate: .renamed(to: renamed.name), place: place)
    }
    return LostColumn(name: column, fate: .dropped, place: placeOfLoss(key) ?? now.shaped)
  }

  /// The statement that took a column away, or the last table that had it.
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
