import SchemaSQLText

/// Records the tables from which each table received rows, directly or through other tables.
struct CopyGraph {
  enum Holder: Hashable {
    case table(Int)
    /// A temporary table of the current migration.
    case temporary(Identifier)
  }

  struct Copy {
    /// The statements that copied the rows.
    fileprivate(set) var places: Set<StatementPlace> = []
    /// Whether a statement copied rows directly or only through temporary tables.
    fileprivate(set) var isDirect = false
  }

  /// The tables whose rows each holder received.
  private var copies: [Holder: [Int: Copy]] = [:]

  mutating func endMigration() {
    for case .temporary(let name) in Array(copies.keys) { empty(name) }
  }

  /// Records that a temporary table is created.
  mutating func empty(_ temporary: Identifier) { copies[.temporary(temporary)] = nil }

  mutating func note(_ sources: Set<Holder>, into holder: Holder, at place: StatementPlace) {
    for source in sources {
      var received = copies[source] ?? [:]
      if case .table(let id) = source {
        for other in received.keys { received[other]?.isDirect = false }
        received[id] = Copy(isDirect: true)
      }
      for (table, copy) in received where holder != .table(table) {
        var known = copies[holder]?[table] ?? Copy()
        known.places.formUnion(copy.places)
        known.places.insert(place)
        known.isDirect = known.isDirect || copy.isDirect
        copies[holder, default: [:]][table] = known
      }
    }
  }

  /// The tables whose rows a table received.
  func copies(into table: Int) -> [Int: Copy] { copies[.table(table)] ?? [:] }
}
