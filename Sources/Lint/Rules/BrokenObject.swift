import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let brokenObject = Rule(
    id: "broken-object",
    section: .hurtsLater,
    severities: .alwaysError,
    concernsLatestSchema: true,
    why: """
      When SQLite creates a view, a trigger, a default or a foreign key, it does not check the \
      objects to which it refers. If a table, a column, a function or a collation is missing, the \
      app's first statement that needs it fails. A broken view or trigger makes SQLite refuse \
      RENAME and DROP COLUMN on every table. A trigger never fires for a missing column of its \
      UPDATE OF. Lint checks the latest schema. Objects that a later migration repairs or drops \
      are not findings. `uuid()` is built in.
      """,
    fix: """
      Correct the name, or drop the object first and create it again afterwards. Name the \
      functions and collations that the app registers under `functions` and `collations` in \
      `schemactl.yaml`.
      """,
    wrong: """
      - create_trigger:
          name: reminders_trim
          sql: |
            CREATE TRIGGER reminders_trim AFTER UPDATE OF title ON reminders BEGIN
              UPDATE reminders SET titel = trim(NEW.title) WHERE id = NEW.id;
            END
      """,
    right: """
      - create_trigger:
          name: reminders_trim
          sql: |
            CREATE TRIGGER reminders_trim AFTER UPDATE OF title ON reminders BEGIN
              UPDATE reminders SET title = trim(NEW.title)
              WHERE id = NEW.id AND title <> trim(NEW.title);
            END
      """,
    check: .history { timeline, _ in
      brokenObjects(timeline) + missingNames(timeline) + missingParents(timeline)
    })
}

private func brokenObjects(_ timeline: Timeline) -> [Draft] {
  // A statement that breaks a view also breaks the views that read it.
  var culprits: [Identifier: StatementPlace] = [:]
  return (timeline.end?.broken ?? []).compactMap { place, broken in
    guard MissingName(message: broken.message) == nil else { return nil }
    let missing = broken.missingObject
    let culprit =
      missing.flatMap { timeline.removal(of: $0, after: place) ?? culprits[$0] } ?? place
    culprits[broken.object.name.identifier] = culprit
    return timeline.draft(
      broken.problem,
      at: culprit, keys: ["name", "column", "table", "from"], object: broken.object.name,
      table: broken.object.table)
  }
}

extension BrokenObject {
  fileprivate var problem: String {
    let name = "the \(object.kind.rawValue) `\(object.name)`"
    return missingColumn.map {
      "\(name) never fires for UPDATE OF \($0): `\(object.table)` has no such column"
    } ?? "\(name) does not compile: \(message)"
  }

  /// The last part of the name in messages such as `no such column: NEW.title`.
  fileprivate var missingObject: Identifier? {
    guard message.hasPrefix("no such ") else { return nil }
    return message.split(separator: " ").last?.split(separator: ".").last.map {
      String($0).identifier
    }
  }
}

extension Timeline {
  /// The last statement that dropped or renamed a table, a view or a column of this name.
  fileprivate func removal(of name: Identifier, after place: StatementPlace) -> StatementPlace? {
    let tables = changes.compactMap { change in
      change.before?.key == name && change.after?.key != name ? change.removal : nil
    }
    let columns = changes.flatMap(\.lost).filter { $0.name.identifier == name }.map(\.place)
    let views = removed.filter { $0.object.kind == .view && $0.object.name.identifier == name }
      .map(\.place)
    return (tables + columns + views).filter { $0.number > place.number }
      .max { $0.number < $1.number }
  }
}

// MARK: Functions and collations

private func missingNames(_ timeline: Timeline) -> [Draft] {
  func draft(
    _ name: MissingName, in subject: String, at place: StatementPlace, _ table: String?
  ) -> Draft? {
    let (noun, object, text) =
      switch name {
      case .function(let name): ("function", name, "`\(name)()`")
      case .collation(let name): ("collation", name, "`\(name)`")
      }
    guard !name.isOfEngine else { return nil }
    return timeline.draft(
      "\(subject) uses the unknown \(noun) \(text)", at: place, keys: ["sql", "name", "table"],
      object: object, table: table,
      help: "correct the name or, if the app registers the \(noun), name it under `\(noun)s` in "
        + "`schemactl.yaml`")
  }
  let statements = timeline.statements.flatMap { statement in
    statement.warnings.missing.compactMap {
      draft($0, in: "the statement", at: statement.place, statement.target?.name)
    }
  }
  let defaults = (timeline.end?.tables ?? []).flatMap { table in
    table.shape.columns.compactMap { column -> Draft? in
      guard case .unknown(let message)? = column.defaultText.flatMap({ timeline.defaults[$0] }),
        let name = MissingName(message: message)
      else { return nil }
      return draft(
        name, in: "the default of `\(table.shape.name).\(column.name)`",
        at: table.place(of: column.name), table.shape.name)
    }
  }
  let objects = (timeline.end?.broken ?? []).compactMap { place, broken in
    MissingName(message: broken.message).flatMap {
      draft(
        $0, in: "the \(broken.object.kind.rawValue) `\(broken.object.name)`", at: place,
        broken.object.table)
    }
  }
  return statements + defaults + objects
}

extension MissingName {
  /// Whether a sync engine registers the function.
  fileprivate var isOfEngine: Bool {
    guard case .function(let function) = self else { return false }
    let name = function.identifier
    return name.hasPrefix("sqlitedata_") || name.hasPrefix("crsql_")
  }
}

// MARK: Foreign keys

private func missingParents(_ timeline: Timeline) -> [Draft] {
  guard let end = timeline.end else { return [] }
  let tables = Dictionary(
    end.tables.map { ($0.shape.key, $0.shape) }, uniquingKeysWith: { first, _ in first })
  let uniques = end.indexes.mapValues { $0.filter { $0.isUnique && $0.condition == nil } }
  return end.tables.flatMap { table in
    table.shape.foreignKeys.compactMap { key in
      let parent = tables[key.parent.identifier]
      guard let problem = problem(key, parent, uniques[key.parent.identifier] ?? []) else {
        return nil
      }
      let names = table.shape.names(of: key.columns)
      let columns = names.joined(separator: ", ")
      let origin = timeline.origin(
        of: { shape, columns in
          shape.foreignKeys.contains { old in
            old.columns == columns
              && (parent != nil || old.parent.identifier == key.parent.identifier)
          }
        }, over: key.columns, in: table.shape)
      let made =
        origin.map { change in change.newest(of: key.columns.map { change.place(of: $0) }) }
        ?? table.shaped
      let missing = parent == nil ? [key.parent.identifier] : key.parentColumns
      let place =
        missing.compactMap { timeline.removal(of: $0, after: made) }.first
        ?? timeline.removal(ofKey: key, of: parent, after: made) ?? made
      return timeline.draft(
        "the foreign key `\(table.shape.name) (\(columns))` \(problem): with foreign keys enforced, "
          + "SQLite refuses writes to `\(table.shape.name)`",
        at: place,
        keys: ["foreign_keys", "references", "column", "columns", "table"],
        column: names.count == 1 ? names[0] : nil, object: "\(table.shape.name).\(columns)",
        table: table.shape.name,
        help: origin?.isMadeByRename(made, timeline) ?? false ? renamedParent : nil)
    }
  }
}

private let renamedParent =
  "RENAME TO also changes the foreign keys of other tables: create the new table under another "
  + "name, copy the rows, drop the old table and rename the new one, or use `rebuild_table`"

extension TableChange {
  /// Whether the statement that changed the table alters another one. Only RENAME does so.
  fileprivate func isMadeByRename(_ place: StatementPlace, _ timeline: Timeline) -> Bool {
    let names = [before?.key, after?.key]
    return !isRebuilt
      && timeline.statement(at: place)?.events.contains { event in
        event.action == .alterTable && !names.contains(event.second?.identifier)
      } ?? false
  }
}

extension Timeline {
  /// The last statement that removed the key of the parent to which a foreign key refers.
  fileprivate func removal(
    ofKey key: TableShape.ForeignKey, of parent: TableShape?, after place: StatementPlace
  ) -> StatementPlace? {
    guard let parent else { return nil }
    func isKey(_ columns: [Identifier?]) -> Bool {
      key.parentColumns.isEmpty || Set(columns) == Set(key.parentColumns.map { $0 })
    }
    let indexes = removed.filter { object in
      index(object).map { $0.isUnique && $0.table.identifier == parent.key && isKey($0.columns) }
        ?? false
    }.map(\.place)
    let rebuilds = changes.filter { change in
      change.after?.key == parent.key && change.before?.keys.contains(where: isKey) ?? false
        && change.after?.keys.contains(where: isKey) == false
    }.map(\.shaped)
    return (indexes + rebuilds).filter { $0.number > place.number }
      .max { $0.number < $1.number }
  }
}

/// The reason why SQLite cannot use a foreign key (Foreign Key Support, section 3); nil if it can.
private func problem(
  _ key: TableShape.ForeignKey, _ parent: TableShape?, _ uniques: [IndexShape]
) -> String? {
  guard let parent else { return "refers to the table `\(key.parent)`, which does not exist" }
  if parent.isVirtual { return "refers to the virtual table `\(key.parent)`" }
  let columns = key.parentColumns.isEmpty ? parent.primaryKey?.columns ?? [] : key.parentColumns
  if let missing = columns.first(where: { parent.column($0) == nil }) {
    return "refers to `\(parent.name).\(missing)`, which does not exist"
  }
  guard columns.count == key.columns.count else {
    return "has \(key.columns.count) columns, but the key of `\(parent.name)` has \(columns.count)"
  }
  let isKey =
    parent.keys.contains { Set($0) == Set(columns) }
    || uniques.contains { Set($0.columns) == Set(columns.map { $0 }) }
  return isKey
    ? nil : "refers to `\(parent.name) (\(parent.list(of: columns)))`, which is not a key"
}
