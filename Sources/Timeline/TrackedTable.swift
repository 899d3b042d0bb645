import SchemaSQLText

/// One table from its creation to its end, through all its names.
struct TrackedTable {
  let id: Int
  let created: StatementPlace
  /// A table that a virtual table keeps for itself.
  let isShadow: Bool
  private(set) var name: String
  private(set) var shape: TableShape
  /// All names that the table has had.
  private(set) var names: Set<Identifier>
  /// The statement that gave it its form.
  private(set) var shaped: StatementPlace
  private(set) var columns: [Column]
  private(set) var isDropped = false
  /// The table that took this one's place, holding a copy of its rows.
  var successor: Int?
  /// What is left of a rebuild: another table has its rows.
  var isLeftover = false

  /// As it was when the last migration that touched it began; nil when that one made it.
  private(set) var start: TableShape?
  private(set) var startedAsLeftover = false
  /// Where, in this migration, columns were dropped or renamed, by the name they began with.
  private(set) var losses: [Identifier: StatementPlace] = [:]
  private(set) var renames: [Identifier: StatementPlace] = [:]
  /// The statements that took names away from it, by name.
  private(set) var left: [Identifier: StatementPlace] = [:]
  /// The last statement that dropped or renamed it.
  private(set) var removal: StatementPlace?

  struct Column {
    let name: String
    /// The name that the column had when the migration began; nil for a new one.
    var origin: Identifier?
    /// The statements that named it and that created it.
    var place: StatementPlace
    var created: StatementPlace

    var key: Identifier { name.identifier }
  }

  var key: Identifier { name.identifier }

  init(id: Int, shape: TableShape, isShadow: Bool, at place: StatementPlace) {
    self.id = id
    self.shape = shape
    self.isShadow = isShadow
    name = shape.name
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

  /// The columns that this migration made, without those that took the values of an old one.
  var createdColumns: Set<Identifier> {
    Set(columns.lazy.filter { $0.origin == nil }.map(\.key))
  }

  /// Must be called before the first change of each migration.
  mutating func beginMigration() {
    start = shape
    startedAsLeftover = isLeftover
    losses = [:]
    renames = [:]
    left = [:]
    removal = nil
    for index in columns.indices { columns[index].origin = columns[index].key }
  }

  mutating func drop(at place: StatementPlace) {
    isDropped = true
    removal = place
    left[key] = place
  }

  /// - Parameter moved: the column whose values `move_column` carries into another one. SQLite may
  ///   do that by renaming it: the old column is removed nevertheless.
  mutating func become(_ new: TableShape, moved: Identifier?, at place: StatementPlace) {
    let old = columns
    columns = new.columns.enumerated().map { index, column in
      // ADD and DROP COLUMN change the number of columns; everything else, an edit of the schema
      // by hand included, leaves each value at its place in the row, whatever it is called then.
      let same =
        old.count == new.columns.count
        ? old[index] : old.first { $0.key == column.name.identifier }
      let new = Column(name: column.name, origin: nil, place: place, created: place)
      guard let same else { return new }
      guard same.key != column.name.identifier else { return same }
      guard moved != same.key else { return new }
      if let origin = same.origin { renames[origin] = place }
      return Column(
        name: column.name, origin: same.origin, place: place, created: same.created)
    }
    let kept = Set(columns.compactMap(\.origin))
    for case let origin? in old.map(\.origin) where !kept.contains(origin) {
      losses[origin] = losses[origin] ?? place
    }
    if new.name.identifier == key { shaped = place } else { rename(new.name, at: place) }
    shape = new
  }

  private mutating func rename(_ new: String, at place: StatementPlace) {
    left[key] = place
    name = new
    left[key] = nil
    names.insert(key)
    removal = place
  }

  /// Columns of a rebuilt table continue those of the old one that have their names.
  mutating func inheritColumns(of old: TrackedTable) {
    for index in columns.indices {
      let key = columns[index].key
      guard columns[index].origin == nil, let same = old.columns.first(where: { $0.key == key })
      else { continue }
      columns[index].origin = same.origin
      // One that this migration made before is what that statement made it.
      guard same.origin == nil, let before = old.shape.column(same.name),
        let now = shape.column(same.name), now.isDefined(as: before)
      else { continue }
      columns[index].place = same.place
      columns[index].created = same.created
    }
  }
}
