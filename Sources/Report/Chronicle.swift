import SchemaDiagram
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaTimeline

/// A replayed history with the lifetimes of all tables and views and of their parts.
package struct Chronicle: Sendable {
  package struct Entry: Sendable {
    package let migration: Migration
    /// The release; nil for a draft, and for a migration that was frozen without a release.
    package let release: String?
    package let isFrozen: Bool
    package let acceptances: [LockAcceptance]

    /// The part of the id before the first underscore. It is unique in a history.
    package var number: String {
      String(migration.id.prefix { $0 != "_" })
    }
  }

  package let entries: [Entry]
  /// The points of the history that the reader of the page can select: the releases, and the latest
  /// migration.
  package let stops: [AppVersion]
  package internal(set) var tables: [TableLifetime] = []
  package internal(set) var views: [Part] = []
  /// The number of replayed migrations.
  package internal(set) var replayed = 0
  /// The schema after the last replayed migration.
  package internal(set) var schema = Schema()
  /// The schema at the latest release.
  package internal(set) var releasedSchema: Schema?

  /// Prepares to follow a replay of the project's history. Call ``note(_:_:)`` after each step.
  package init(_ project: Project) {
    entries = project.migrations.map { migration in
      let line = project.lock?.entry(migration.id)
      return Entry(
        migration: migration, release: line?.release, isFrozen: line != nil,
        acceptances: line?.acceptances ?? [])
    }
    var stops = project.versions(replayed: entries.count, oldest: 0).filter(\.isRelease)
    if let last = entries.last, stops.last?.count != entries.count {
      let name = last.isFrozen ? "latest" : "drafts"
      stops.append(AppVersion(name: name, isRelease: false, count: entries.count))
    }
    self.stops = stops
  }

  /// The latest release before the latest migration.
  var latestRelease: AppVersion? {
    stops.last { $0.isRelease && $0.count < entries.count }
  }
}

/// The migrations between which an object exists, as indexes: `from` introduced the object, and `until`
/// removed it; `until` is nil if the object still exists.
package struct Lifetime: Sendable, Hashable {
  package let from: Int
  package internal(set) var until: Int?

  package var isOver: Bool { until != nil }

  /// Returns the lifetime that two objects share; nil if they never exist at the same time.
  func overlap(_ other: Lifetime) -> Lifetime? {
    let from = max(from, other.from)
    let until = [until, other.until].compactMap { $0 }.min()
    return until.map { from < $0 } ?? true ? Lifetime(from: from, until: until) : nil
  }
}

/// One definition of a view, or of a part of a table such as a column, a key or an index. A changed
/// definition is another `Part`.
package struct Part: Sendable {
  package enum Content: Sendable, Hashable {
    case column(ColumnOutline)
    case foreignKey(StoredTable.ForeignKey)
    case constraint(String)
    case index(StoredTable.Index)
    case trigger(SchemaObject)
    case view(SchemaObject)
  }

  package let content: Content
  package internal(set) var life: Lifetime
  /// The migration that introduced the object, under its first definition and table name.
  package let since: Int
  /// The migration that last changed the definition. Renaming the table does not count.
  package let changed: Int
  /// The name of the column that this column replaced at the same position.
  package internal(set) var replaced: String?
  /// Whether another definition of the same part follows.
  package internal(set) var hasSuccessor = false

  /// Whether this definition changes an existing object.
  package var isChange: Bool { since < changed }

  init(content: Content, life: Lifetime, since: Int, changed: Int? = nil) {
    self.content = content
    self.life = life
    self.since = since
    self.changed = changed ?? life.from
  }

  /// A key that is equal for all definitions of the same object.
  var key: [Identifier] {
    switch content {
    case .column(let column): ["column", column.name.identifier]
    case .foreignKey(let key):
      ["foreign key", key.table.identifier] + key.columns.map(\.identifier)
    case .constraint(let text): ["constraint", text.identifier]
    case .index(let index): ["index", index.name.identifier]
    case .trigger(let trigger): ["trigger", trigger.name.identifier]
    case .view(let view): Self.key(ofView: view)
    }
  }

  static func key(ofView view: SchemaObject) -> [Identifier] { ["view", view.name.identifier] }
}

/// A table under one name.
package struct TableLifetime: Sendable {
  package let name: String
  package internal(set) var life: Lifetime
  /// The migration that introduced the table, under its first name.
  package let since: Int
  /// The name before the renaming that began this story; nil if the table was created.
  package let formerName: String?
  package internal(set) var options: [String]
  package internal(set) var sql: String
  /// The parts. Columns are in order, and dropped columns remain at their former positions.
  package internal(set) var parts: [Part] = []

  package var columns: [(part: Part, column: ColumnOutline)] {
    parts.compactMap { part in
      if case .column(let column) = part.content { (part, column) } else { nil }
    }
  }

  package var foreignKeys: [(part: Part, key: StoredTable.ForeignKey)] {
    parts.compactMap { part in
      if case .foreignKey(let key) = part.content { (part, key) } else { nil }
    }
  }
}

extension TableLifetime {
  init(_ table: TableOutline, at step: Int, renaming former: TableLifetime?) {
    name = table.name
    life = Lifetime(from: step)
    since = former?.since ?? step
    formerName = former?.name
    options = table.options
    sql = table.sql
    for content in table.contents {
      let key = Part(content: content, life: life, since: step).key
      let old = former?.parts.first { $0.life.until == step && $0.key == key }
      parts.append(
        Part(
          content: content, life: life, since: old?.since ?? step,
          changed: old?.content == content ? old?.changed : step))
    }
  }

  /// Records a new definition of the table.
  mutating func update(_ table: TableOutline, at step: Int) {
    options = table.options
    sql = table.sql
    let alive = parts.indices.filter { !parts[$0].life.isOver }
    var new: [Part] = []
    var kept: Set<Int> = []
    for content in table.contents {
      let key = Part(content: content, life: life, since: step).key
      if let index = alive.first(where: { !kept.contains($0) && parts[$0].key == key }) {
        kept.insert(index)
        if parts[index].content == content {
          new.append(parts[index])
          continue
        }
        parts[index].hasSuccessor = true
        new.append(
          Part(content: content, life: Lifetime(from: step), since: parts[index].since))
        parts[index].life.until = step
      } else {
        new.append(Part(content: content, life: Lifetime(from: step), since: step))
      }
    }
    for index in alive where !kept.contains(index) { parts[index].life.until = step }
    noteReplacement(in: &new, at: step)
    parts = merged(new, alive)
  }

  /// Records the dropped column that a new column replaces at the same position.
  private func noteReplacement(in new: inout [Part], at step: Int) {
    let before = parts.filter { $0.isColumn && ($0.life.until ?? step) == step }
    let after = new.indices.filter { new[$0].isColumn }
    guard before.count == after.count else { return }
    for (old, index) in zip(before, after)
    where new[index].since == step && old.life.until == step && !old.hasSuccessor {
      if case .column(let column) = old.content { new[index].replaced = column.name }
    }
  }

  /// Returns the current parts in order. Inserts each removed part after the part that preceded it.
  private func merged(_ new: [Part], _ alive: [Int]) -> [Part] {
    var result = new
    var previous: Part?
    for part in parts {
      defer { previous = part }
      guard part.life.isOver else { continue }
      let place = previous.flatMap { previous in
        result.lastIndex { $0.key == previous.key && $0.isColumn == part.isColumn }
      }
      result.insert(part, at: place.map { $0 + 1 } ?? (part.isColumn ? 0 : result.count))
    }
    return result
  }
}

extension Part {
  package var isColumn: Bool { if case .column = content { true } else { false } }
}

extension TableOutline {
  /// The parts of the table, without automatic indexes, which belong to constraints.
  fileprivate var contents: [Part.Content] {
    columns.map(Part.Content.column) + foreignKeys.map(Part.Content.foreignKey)
      + constraints.map(Part.Content.constraint)
      + indexes.filter { $0.sql != nil }.map(Part.Content.index)
      + triggers.map(Part.Content.trigger)
  }
}
