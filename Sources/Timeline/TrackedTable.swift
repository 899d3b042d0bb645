import SchemaSQLText

/// One table from its creation until it is dropped, under all its names.
package struct TrackedTable: Sendable {
  let id: Int
  package let created: StatementPlace
  /// Whether it is a shadow table of a virtual table.
  let isShadow: Bool
  package private(set) var shape: TableShape
  /// All names that the table has had.
  private(set) var names: Set<Identifier>
  /// The last statement that changed the table's definition. A rename of the table does not count,
  /// and neither does ADD, DROP or RENAME COLUMN.
  package private(set) var shaped: StatementPlace
  private(set) var columns: [Column]
  private(set) var isDropped = false
  /// The table that replaced this one with a copy of its rows.
  var successor: Int?
  /// Whether it is a leftover of a rebuild: another table has its rows.
  var isLeftover = false

  /// The table's form at the beginning of the last migration that changed it; nil if only the
  /// migration that created it has changed it.
  private(set) var start: TableShape?
  private(set) var startedAsLeftover = false
  /// The statements that dropped or renamed columns in this migration, by their original name.
  private(set) var losses: [Identifier: StatementPlace] = [:]
  private(set) var renames: [Identifier: StatementPlace] = [:]
  /// The statements that dropped or renamed the table, by the name that it lost.
  private(set) var left: [Identifier: StatementPlace] = [:]
  /// The last statement that dropped or renamed it.
  private(set) var removal: StatementPlace?

  struct Column: Sendable {
    let name: String
    /// The column's name at the beginning of the migration; nil for a new column.
    var origin: Identifier?
    /// The last statement that created the column, renamed it or changed its type.
    var place: StatementPlace
    var created: StatementPlace

    var key: Identifier { name.identifier }
  }

  var name: String { shape.name }
  var key: Identifier { shape.key }

  init(id: Int, shape: TableShape, isShadow: Bool, at place: StatementPlace) {
    self.id = id
    self.shape = shape
    self.isShadow = isShadow
    names = [shape.name.identifier]
    created = place
    shaped = place
    columns = shape.columns.map {
      Column(name: $0.name, origin: nil, place: place, created: place)
    }
  }

  var columnPlaces: [Identifier: StatementPlace] {
    Dictionary(columns.map { ($0.key, $0.place) }, uniquingKeysWith: { first, _ in first })
  }

  package func place(of column: String) -> StatementPlace {
    columns.first { $0.key == column.identifier }?.place ?? shaped
  }

  /// The columns that this migration created, except new columns that took the values of an old
  /// one.
  var createdColumns: Set<Identifier> {
    Set(columns.lazy.filter { $0.origin == nil }.map(\.key))
  }

  /// Call it before the first change of each migration.
  mutating func beginMigration() {
    start = shape
    startedAsLeftover = isLeftover
    losses = [:]
    renames = [:]
    left = [:]
    removal = nil
    for index in columns.indices { columns[index].origin = columns[index].key }
  }

  /// The statement that dropped the table, or that renamed it from the name.
  func displacement(from name: Identifier) -> StatementPlace? {
    isDropped ? removal : left[name]
  }

  mutating func drop(at place: StatementPlace) {
    isDropped = true
    removal = place
    left[key] = place
  }

  /// - Parameter moved: the source column of a `move_column`. The plan may rename it to the new
  ///   column. The source counts as removed nevertheless.
  mutating func become(_ new: TableShape, moved: Identifier?, at place: StatementPlace) {
    let old = columns
    columns = new.columns.enumerated().map { index, column in
      // Only ADD and DROP COLUMN change the number of columns. All other changes, including a
      // manual edit of the schema, keep the position of each value in the row, whatever the
      // column's name.
      let same =
        old.count == new.columns.count
        ? old[index] : old.first { $0.key == column.name.identifier }
      let new = Column(name: column.name, origin: nil, place: place, created: place)
      guard let same else { return new }
      if same.key == column.name.identifier {
        // A statement that changes the type becomes the column's place.
        if shape.column(same.key)?.type?.identifier == column.type?.identifier { return same }
        return Column(name: column.name, origin: same.origin, place: place, created: same.created)
      }
      guard moved != same.key else { return new }
      if let origin = same.origin { renames[origin] = place }
      return Column(
        name: column.name, origin: same.origin, place: place, created: same.created)
    }
    let kept = Set(columns.compactMap(\.origin))
    for case let origin? in old.map(\.origin) where !kept.contains(origin) {
      losses[origin] = losses[origin] ?? place
    }
    if new.key == key {
      if columns.map(\.key) == old.map(\.key) { shaped = place }
    } else {
      left[key] = place
      left[new.key] = nil
      names.insert(new.key)
      removal = place
    }
    shape = new
  }

  /// Links each column of the rebuilt table to the old table's column of the same name.
  mutating func inheritColumns(of old: TrackedTable) {
    for index in columns.indices {
      let key = columns[index].key
      guard columns[index].origin == nil, let same = old.columns.first(where: { $0.key == key })
      else { continue }
      columns[index].origin = same.origin
      guard let before = old.shape.column(same.name), let now = shape.column(same.name),
        now.isDefined(as: before)
      else { continue }
      // A column that this migration created or changed earlier keeps that place.
      if same.place.migration == shaped.migration { columns[index].place = same.place }
      if same.origin == nil { columns[index].created = same.created }
    }
  }
}

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
      // Another old column may have the name now, or a column that was created after the loss and
      // therefore cannot contain the values.
      let isNew =
        same.origin == nil
        && ((first.losses[key] ?? first.renames[key]).map { $0.number < same.created.number }
          ?? false)
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
      place = table.displacement(from: name.identifier)
    }
    return place
  }
}
