import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaYAML

extension Project {
  /// Finds the operations that lead from the latest schema of the history to another schema.
  ///
  /// - Parameters:
  ///   - source: the source of the new schema.
  ///   - name: the name of the source in messages.
  ///   - renamings: the columns and tables that the user declares as renamed.
  /// - Returns: the operations, and possible renamings that they do not contain. Each renaming would keep
  ///   values that the operations drop.
  /// - Throws: when the source already has the schema of the history, when it is a database with pending
  ///   migrations, or when no operations lead to its schema.
  package func newOperations(
    to source: SchemaSource, called name: String, renaming renamings: [SchemaRenaming],
    timeout: Double, interruption: Interruption
  ) throws(Failure) -> (operations: [WrittenOperation], possible: [PossibleRenaming]) {
    let latest = try schema(through: nil, interruption: interruption)
    let wanted = try source.schema(
      application, ignoring: foreign, besides: latest, timeout: timeout,
      interruption: interruption)
    try source.requireNothingPending(in: self, timeout: timeout, interruption: interruption)
    let operations = try SchemaTransition.operations(
      from: latest, to: wanted, renaming: renamings, application)
    guard !operations.isEmpty else {
      throw Failure(.finding, "`\(name)` already has the schema of the history")
    }
    let possible = SchemaRenaming.possible(
      from: latest, to: wanted, besides: renamings, application)
    return (operations, possible)
  }
}
