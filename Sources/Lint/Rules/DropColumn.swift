import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

extension Rule {
  static let dropColumn = Rule(
    id: "drop-column",
    section: .removes,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    why: """
      Dropping a column deletes its values. Where something syncs, a device with an older version \
      of the app continues to write the column. A device without the column can no longer store \
      those rows. `drop_column`, ALTER TABLE, `move_column` and a rebuilt table have the same \
      effect. The finding is at the statement that removes the old table or column.
      """,
    fix: """
      Keep the column and stop using it. To replace it, use `move_column` with `keep_source: \
      true`, which adds the new column, fills it and keeps the old column. Drop the old column, \
      with a suppression, once no device runs a version that knows it. A suppression in the \
      manifest accepts the finding: `lint: { allow: [{ rule: drop-column, reason: Nothing reads \
      it. }] }`.
      """,
    examples: Example(.additive),
    wrong: moveManifest(keepsSource: false),
    right: moveManifest(keepsSource: true),
    check: .history { timeline, scope in
      timeline.lostColumns(scope).compactMap { change, column, table in
        guard column.outcome == .dropped, timeline.replacedName(of: column, in: change) == nil
        else {
          return nil
        }
        let profile = scope.profile(table, in: column.place.migration)
        let mayBeNull = change.before?.column(column.name)?.notNull == nil
        let move = timeline.move(at: column.place).flatMap {
          $0.from.identifier == column.name.identifier ? $0.mapping(null: mayBeNull) : nil
        }
        // Without the rows that a CHECK refuses, the column may seem to be lost.
        let isRefused = change.after.map { timeline.failsByCheck(change, $0) } ?? false
        let found = timeline.destination(of: column, in: change)
        let destination =
          if isRefused, case .nowhere? = found {
            move?.isComputed ?? false ? Destination.elsewhere : nil
          } else {
            found
          }
        let isNew = timeline.isUnreleased(column.name, droppedBy: change)
        let isSafe = isNew || profile == .local
        return timeline.draft(
          message(
            table, column.name, move, destination,
            isNew ? "no release has it" : profile.harm(ofLosing: column.name),
            isTried: !isRefused && timeline.losses.ran(on: change)
              && !timeline.losses.isUntried(column.name, of: table, in: change.migration),
            isStored: change.before?.column(column.name)?.isGenerated == false,
            isUsed: timeline.updates(table, with: column)), at: column.place,
          keys: ["column", "from", "table"], object: "\(table).\(column.name)", table: table,
          fix: isSafe ? nil : move.map(safeMove), help: isSafe ? acceptance : nil,
          correction: isSafe ? nil : move.flatMap { correction($0, column.place) },
          severity: isNew ? .warning : nil)
      }
    })
}

extension Timeline {
  /// Whether the migration updates other columns of the table with the column, possibly only in some rows,
  /// before it drops the column.
  fileprivate func updates(_ table: String, with column: LostColumn) -> Bool {
    statements(in: column.place.migration).contains { statement in
      guard statement.place.number < column.place.number, let target = statement.target else {
        return false
      }
      return target.updates.contains { $0 != column.name.identifier }
        && target.name.isSameName(as: table)
        && statement.events.contains { event in
          event.action == .read && event.first?.isSameName(as: table) == true
            && event.second?.isSameName(as: column.name) == true
        }
    }
  }
}

extension MoveColumn {
  fileprivate var isComputed: Bool { if case .using = mapping { true } else { false } }

  /// The move without NULL in its map, unless the source accepts NULL. Otherwise the inverse map could
  /// give NULL to a column that refuses it.
  fileprivate func mapping(null mayBeNull: Bool) -> MoveColumn {
    guard case .map(let values) = mapping, !mayBeNull else { return self }
    var move = self
    move.mapping = .map(values.filter { $0.from != .null })
    return move
  }
}

private let acceptance =
  "keep the column and stop using it, or accept the finding in the manifest: `lint: { allow: [{ "
  + "rule: drop-column, reason: … }] }`"

private func message(
  _ table: String, _ column: String, _ move: MoveColumn?, _ destination: Destination?,
  _ harm: String, isTried: Bool, isStored: Bool, isUsed: Bool
) -> String {
  let values: String? =
    switch (move, destination) {
    case (let move?, .nowhere?): "its values are lost: `\(move.to.name)` does not hold them"
    case (let move?, .elsewhere?) where move.isComputed:
      "`\(move.to.name)` holds results of its values"
    case (let move?, .narrowed(let a, let b)?) where move.isComputed:
      "`\(move.to.name)` holds results of its values, which are the same for \(a) and \(b)"
    case (let move?, _): "its values move to `\(move.to.name)`"
    case (nil, .column(let table, let column)?): "`\(table).\(column)` holds a copy of its values"
    case (nil, .elsewhere?): "other columns hold results of its values"
    case (nil, .narrowed(let a, let b)?):
      "other columns hold results of its values, which are the same for \(a) and \(b)"
    case (nil, .detached?): "other tables hold its values, but no row refers to them"
    case (nil, .nowhere?) where isUsed:
      "its values are lost, except where the migration copies them"
    case (nil, .nowhere?): "its values are lost"
    // If the migration did not run on rows, it may copy the values first. A generated column has no
    // values of its own.
    case (nil, nil): isTried && isStored ? "its values are lost" : nil
    }
  return "this drops `\(table).\(column)`: "
    + [values, harm].compactMap(\.self).joined(separator: "; ")
}

/// The correction. Nil unless the inverse map is complete, and the new column has a default or accepts
/// NULL.
private func correction(_ move: MoveColumn, _ place: StatementPlace) -> Correction? {
  guard case .map(let values) = move.mapping, !move.keepSource,
    move.to.default != nil || move.to.notNull == nil,
    move.to.values(outside: values)?.isEmpty == true
  else { return nil }
  return .keepSource(
    operation: place.operation, from: move.from, to: move.to.name,
    mapBack: "{ \(pairs(values.inverted)) }")
}

/// Asks the author for the values that the inverse map lacks.
private func remainder(_ values: [Value]?, of move: MoveColumn) -> String {
  guard let values else { return " Add every other value of \(move.to.name) to map_back." }
  let list = listed(values.map(\.yaml), "and")
  return values.isEmpty ? "" : " Add \(list) to map_back, with the value for \(move.from)."
}

extension ColumnDefinition {
  /// The values that the column accepts and a map does not give; nil if they are unknown.
  fileprivate func values(outside map: [MappedValue]) -> [Value]? {
    listedValues.map { values in
      ((notNull == nil ? [.null] : []) + values).filter { value in !map.contains { $0.to == value }
      }
    }
  }
}

/// The same move that keeps the old column, with triggers for both columns if the inverse map is
/// known.
private func safeMove(_ move: MoveColumn) -> String {
  let (note, values) =
    switch move.mapping {
    case .map(let values):
      (
        "# triggers keep both columns consistent."
          + remainder(move.to.values(outside: values), of: move),
        [
          "map: { \(pairs(values)) }", "keep_source: true", "mirror: true",
          "map_back: { \(pairs(values.inverted)) }",
        ]
      )
    case .using(let source):
      (
        "# the app itself must write both columns.",
        ["using: \(yamlQuoted(source.text))", "keep_source: true"]
      )
    }
  var safe = move.to
  if safe.notNull != nil {
    safe = safe.withDefault()
    safe.notNull = .onConflict(.replace)
  }
  let keys =
    [
      "table: \(yamlScalar(move.table))", "from: \(yamlScalar(move.from))",
      "to: \(safe.yaml)",
    ] + values
  return """
    # A later migration may drop \(move.from) once no device writes it. Until then
    \(note)
    - move_column:
    \(keys.map { "    " + $0 }.joined(separator: "\n"))
    """
}
