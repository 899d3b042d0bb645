import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

extension Project {
  /// Requires a migration to change the live schema as it changes the schema of the history.
  ///
  /// - Parameters:
  ///   - delta: the change of the live schema.
  ///   - step: the migration in the history.
  ///   - live: the live schema before and after the migration.
  ///   - expected: the schema of the history before the migration.
  ///   - hasDrift: whether the live schema differed from the history before the run.
  package func requireExpectedChange(
    _ delta: SchemaDelta, with step: ScratchDatabase.Step, on live: (before: Schema, after: Schema),
    from expected: Schema, hasDrift: Bool
  ) throws(Failure) {
    guard !delta.doesTheSame(as: step.delta) else { return }
    // Another tool may have written an equivalent definition, for example with other quotes. The migration may
    // keep this text, or replace it with the text of the history.
    let touched = Set(delta.keys.union(step.delta.keys).map(\.name))
    let differences = drift(of: live.after, from: step.delta.applied(to: expected))
      .filter { touched.contains($0.holder.identifier) }
    var unexpected = delta.addedOrRemoved.symmetricDifference(step.delta.addedOrRemoved)
    let known = Set(expected.objects.map(\.key))
    let foreignObjects = unexpected.compactMap { live.before.object($0.kind, $0.name) }
      .filter { foreign.contains($0, besides: known) }
    // Foreign indexes and triggers are dropped with their table.
    unexpected.subtract(
      foreignObjects.filter { object in
        let table = SchemaDelta.Key(.table, object.holder)
        return object.kind != .table && step.delta.before[table] != nil
          && step.delta.after[table] == nil
      }.map(\.key))
    guard !differences.isEmpty || !unexpected.isEmpty else { return }
    if let object = foreignObjects.first(where: { unexpected.contains($0.key) }) {
      throw Context(migration: step.migration).failure(
        .finding,
        "this migration creates or drops the \(object.kind.rawValue) `\(object.name)`, which does "
          + "not belong to the history: another tool owns it, or `ignore` names it",
        remedy: "Remove the statement from the migration, or the name from `ignore`")
    }
    let strange = unexpected.map { key in
      "\(key.kind.rawValue) `\(key.name)` "
        + (known.contains(key) ? "is missing" : "is not in the history")
    }
    let names = (differences.map(\.sentence) + strange.sorted()).joined(separator: "; ")
    let message = "the migration would not lead to the schema of the history: \(names)"
    let context = Context(migration: step.migration)
    guard hasDrift else { throw context.failure(.bug, message) }
    throw context.failure(
      .finding, message,
      remedy:
        "`schemactl diff --database FILE` lists every difference. Correct the database with SQL")
  }
}
