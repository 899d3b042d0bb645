import SchemaDiagram
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Chronicle {
  /// Adds the next step of a replay.
  package mutating func note(
    _ step: ScratchDatabase.Step, _ scratch: ScratchDatabase
  ) throws(Failure) {
    do throws(DatabaseError) {
      try follow(step.delta, scratch)
    } catch {
      throw Failure(of: error)
    }
    if replayed == latestRelease?.count { releasedSchema = scratch.schema }
  }

  private mutating func follow(
    _ delta: SchemaDelta, _ scratch: ScratchDatabase
  ) throws(DatabaseError) {
    let step = replayed
    replayed += 1
    schema = scratch.schema
    guard !delta.isEmpty else { return }
    followViews(delta, at: step)
    var names: Set<Identifier> = []
    for object in [delta.before, delta.after].flatMap(\.values) where object.kind != .view {
      names.insert(object.table)
    }
    let drawn = schema.drawnTables.filter { names.contains($0.name) }
    for index in tables.indices
    where !tables[index].life.isOver && names.contains(tables[index].name) {
      if !drawn.contains(where: { $0.name == tables[index].name }) { end(index, at: step) }
    }
    for table in drawn {
      let outline = try scratch.connection.outline(
        of: table, schema.objects(.trigger, on: table.name))
      if let index = tables.firstIndex(where: { !$0.life.isOver && $0.name == table.name }) {
        tables[index].update(outline, at: step)
      } else {
        let former = delta.formerName(of: table)
        tables.append(
          TableLifetime(
            outline, at: step,
            renaming: former.flatMap { name in
              tables.last { $0.life.until == step && $0.name == name }
            }))
      }
    }
  }

  private mutating func end(_ index: Int, at step: Int) {
    tables[index].life.until = step
    for part in tables[index].parts.indices where !tables[index].parts[part].life.isOver {
      tables[index].parts[part].life.until = step
    }
  }

  private mutating func followViews(_ delta: SchemaDelta, at step: Int) {
    for object in delta.before.values where object.kind == .view {
      let index = views.firstIndex { !$0.life.isOver && $0.key == Part.key(ofView: object) }
      if let index { views[index].life.until = step }
    }
    for object in delta.ordered where object.kind == .view {
      let old = views.lastIndex { $0.life.until == step && $0.key == Part.key(ofView: object) }
      if let old { views[old].hasSuccessor = true }
      views.append(
        Part(
          content: .view(object), life: Lifetime(from: step),
          since: old.map { views[$0].since } ?? step))
    }
  }
}

extension SchemaDelta {
  /// Returns the previous name of a renamed table: RENAME keeps the root page.
  fileprivate func formerName(of table: SchemaObject) -> String? {
    guard table.rootPage != 0, before[table.key] == nil else { return nil }
    return before.values.first { object in
      object.kind == .table && object.rootPage == table.rootPage && after[object.key] == nil
    }?.name
  }
}
