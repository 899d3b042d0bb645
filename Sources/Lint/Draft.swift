import SchemaDevices
import SchemaHistory
import SchemaManifest
import SchemaQueries
import SchemaSQLText
import SchemaTimeline

typealias FoundDraft = (rule: Rule, draft: Draft)

/// A finding whose severity and suppression are not determined yet.
struct Draft: Sendable {
  var message: String
  /// The statements that demonstrate the problem on two devices.
  var transcript: DeviceTranscript?
  /// The query in whose file lint reports the finding; nil for a finding in a manifest.
  var query: ApplicationQuery?
  /// Whether the query alone is wrong, independently of any migration.
  var isOfQueryAlone = false
  /// The index of the migration; the index of the last one if no migration caused the finding.
  let migration: Int
  /// The index of the operation; nil for the whole manifest.
  let operation: Int?
  let position: Position
  let object: String?
  /// The table that determines the severity, because it may sync or not. Nil if the profile alone
  /// determines it.
  let table: String?
  let fix: String?
  /// The place of `fix` relative to the operation.
  var fixPlace = FixPlace.instead
  /// The remedy of this case, if it differs from that of the rule.
  var help: String?
  /// The change that `lint --fix` makes in a draft, if a safe one is known.
  var correction: Correction?
  /// The severity of this case, if it differs from that of the rule.
  var severity: Severity?
  /// Whether the problem occurred on a copy of a real database. It is then an error unless the rule
  /// is off.
  var isCertain = false
  /// In a finding about a failure, the constraint that failed. In another finding, the constraint
  /// whose failures it predicts; nil if it predicts all failures without a severity or a fix of
  /// their own.
  var constraint: RowFailure.Constraint?
  /// The tables of a statement that failed on rows; nil if no statement ran.
  var failedTables: Set<Identifier>?
}

extension Timeline {
  /// A finding at a statement. Its place is a key of the operation, or the statement itself if the
  /// operation consists of SQL.
  ///
  /// - Parameters:
  ///   - keys: keys of operations; the first one that the operation has is the place.
  ///   - column: moves the place to the operation's definition of this column, if it has one.
  ///   - position: replaces the place by a more precise one.
  func draft(
    _ message: String, at place: StatementPlace, keys: [String] = [], column: String? = nil,
    object: String?, table: String?, fix: String? = nil, _ fixPlace: FixPlace = .instead,
    help: String? = nil, correction: Correction? = nil, position: Position? = nil,
    severity: Severity? = nil
  ) -> Draft {
    let operation = operation(place)
    let position =
      position ?? column.flatMap { operation?.definition(ofColumn: $0)?.position }
      ?? keys.lazy.compactMap { operation?.keys[$0] }.first ?? place.position
    return Draft(
      message: message, migration: place.migration, operation: place.operation,
      position: position, object: object, table: table, fix: fix, fixPlace: fixPlace,
      help: help, correction: correction, severity: severity)
  }

  /// A finding about a column. Its place is the operation's definition of the column, if it has
  /// one.
  func draft(
    _ message: String, about column: TableShape.Column, of table: TableShape,
    at place: StatementPlace, keys: [String], fix: String? = nil, _ fixPlace: FixPlace = .instead,
    help: String? = nil, correction: Correction? = nil
  ) -> Draft {
    draft(
      message, at: place, keys: keys, column: column.name, object: "\(table.name).\(column.name)",
      table: table.name, fix: fix, fixPlace, help: help, correction: correction)
  }
}

extension Draft {
  /// Whether both findings concern the same change of the same object.
  func isSameChange(as other: Draft, _ migrations: [Migration]) -> Bool {
    guard migration == other.migration, let object, let theirs = other.object,
      let table = table?.identifier, other.table?.identifier == table
    else { return false }
    if object.identifier == theirs.identifier { return true }
    guard operation == other.operation else { return false }
    if isOneChange(migrations) { return true }
    // One statement may change several columns independently.
    return position == other.position && !theirs.identifier.hasPrefix(Identifier("\(table)."))
  }

  /// Whether the operation makes a single change, even if that affects two columns.
  func isOneChange(_ migrations: [Migration]) -> Bool {
    switch migrations.operation(operation, of: migration)?.kind {
    case nil, .sql?, .rebuildTable?, .createTable?, .alterColumn?: false
    default: true
    }
  }
}

/// Removes failures on rows that another rule has already explained; the other rule's finding
/// remains.
func withoutRepeatedFailures(
  _ found: [FoundDraft], _ timeline: Timeline
) -> [FoundDraft] {
  var found = found
  for index in found.indices.reversed() where found[index].draft.failedTables != nil {
    let failure = found[index].draft
    guard
      let known = found.firstIndex(where: { rule, draft in
        // A rule about a type or a key does not explain a failure that needs advice of its own, and lost values
        // do not explain equal keys.
        rule.foreseesFailures && draft.failedTables == nil && draft.foresees(failure)
          && (rule.isAboutFailures
            ? failure.help == nil : draft.constraint != nil || failure.constraint != .unique)
          && (draft.isSameHarm(as: failure, timeline.migrations)
            || draft.isOfTable(copiedBy: failure, timeline))
      })
    else { continue }
    if failure.isCertain || found[known].rule.isAboutFailures {
      found[known].draft = found[known].draft.confirmed(by: failure)
    }
    found.remove(at: index)
  }
  return found
}

extension Draft {
  /// A finding without a constraint does not explain NULLs.
  fileprivate func foresees(_ failure: Draft) -> Bool {
    constraint.map { $0 == failure.constraint }
      ?? (failure.severity == nil && failure.fix == nil && failure.constraint != .notNull)
  }

  fileprivate func isSameHarm(as failure: Draft, _ migrations: [Migration]) -> Bool {
    guard migration == failure.migration, let table = table?.identifier,
      failure.failedTables?.contains(table) ?? false
    else { return false }
    // The statements of a hand-written rebuild may belong to several operations.
    return operation == failure.operation
      || [self, failure].allSatisfy { $0.isOfSQL(migrations) }
  }

  /// Whether the failed statement belongs to an earlier migration and copies rows into the table of
  /// this finding.
  fileprivate func isOfTable(copiedBy failure: Draft, _ timeline: Timeline) -> Bool {
    guard let table, failure.migration < migration else { return false }
    let copies = timeline.change(of: table, in: migration)?.copies ?? []
    return copies.contains { copy in
      copy.migration == failure.migration && copy.position == failure.position
    }
  }

  private func isOfSQL(_ migrations: [Migration]) -> Bool {
    if case .sql? = migrations.operation(operation, of: migration)?.kind { true } else { false }
  }

  fileprivate func confirmed(by failure: Draft) -> Draft {
    var draft = self
    draft.message += ". \(failure.message.prefix(1).uppercased() + failure.message.dropFirst())"
    if failure.isCertain { (draft.isCertain, draft.severity, draft.correction) = (true, nil, nil) }
    return draft
  }
}
