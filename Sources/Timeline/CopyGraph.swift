import SchemaSQLText

/// Records which statements copied rows between tables, directly or through other tables.
struct CopyGraph {
  enum Holder: Hashable {
    case table(Int)
    /// A temporary table of the current migration.
    case temporary(Identifier)
  }

  private struct Copy {
    let place: StatementPlace
    let sources: Set<Holder>
  }

  private var copies: [Holder: [Copy]] = [:]
  /// The tables whose rows each holder received.
  private var origins: [Holder: Set<Int>] = [:]
  /// The same, without tables whose rows arrived through another table of the schema.
  private var direct: [Int: Set<Int>] = [:]

  mutating func beginMigration() {
    for case .temporary(let name) in Array(origins.keys) { empty(name) }
  }

  /// Records that a temporary table is created.
  mutating func empty(_ temporary: Identifier) {
    copies[.temporary(temporary)] = nil
    origins[.temporary(temporary)] = nil
  }

  mutating func note(_ sources: Set<Holder>, into holder: Holder, at place: StatementPlace) {
    guard !sources.isEmpty else { return }
    copies[holder, default: []].append(Copy(place: place, sources: sources))
    for source in sources {
      let tables = tables(in: source)
      if case .table(let id) = holder { direct[id, default: []].formUnion(tables) }
      let indirect = origins[source] ?? []
      origins[holder, default: []].formUnion(tables.union(indirect))
    }
    if case .table(let id) = holder { origins[holder]?.remove(id) }
  }

  private func tables(in source: Holder) -> Set<Int> {
    if case .table(let id) = source { [id] } else { origins[source] ?? [] }
  }

  func origins(of table: Int) -> Set<Int> { origins[.table(table)] ?? [] }

  func isDirect(from source: Int, to table: Int) -> Bool {
    direct[table]?.contains(source) ?? false
  }

  /// The statements that copied rows from one table to another, through any number of others.
  func places(from source: Int, to table: Int) -> [StatementPlace] {
    var places: [StatementPlace] = []
    var seen: Set<Holder> = []
    var open: [Holder] = [.table(table)]
    while let next = open.popLast() {
      guard next != .table(source), seen.insert(next).inserted else { continue }
      for copy in copies[next] ?? [] where copy.sources.contains(where: { has($0, source) }) {
        places.append(copy.place)
        open += copy.sources
      }
    }
    return places
  }

  private func has(_ holder: Holder, _ source: Int) -> Bool {
    holder == .table(source) || origins[holder]?.contains(source) ?? false
  }
}
