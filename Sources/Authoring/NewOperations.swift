import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaYAML

/// The operations that lead from the latest schema of a history to another schema.
package struct NewOperations: Sendable {
  package let operations: [WrittenOperation]
  /// Possible renamings that the operations do not contain. Each would keep values that the operations drop.
  package let possible: [PossibleRenaming]

  /// Finds the operations.
  ///
  /// - Parameters:
  ///   - source: the source of the new schema.
  ///   - name: the name of the source in messages.
  ///   - renamings: the columns and tables that the user declares as renamed.
  /// - Throws: when the source already has the schema of the history, when it is a database with pending
  ///   migrations, or when no operations lead to its schema.
  package init(
    from project: Project, to source: SchemaSource, called name: String,
    renaming renamings: [SchemaRenaming], timeout: Double, interruption: Interruption
  ) throws(Failure) {
    let application = project.application
    let latest = try project.schema(through: nil, interruption: interruption)
    let wanted = try source.schema(
      application, ignoring: project.foreign, besides: latest, timeout: timeout,
      interruption: interruption)
    try source.requireNothingPending(in: project, timeout: timeout, interruption: interruption)
    operations = try SchemaTransition.operations(
      from: latest, to: wanted, renaming: renamings, application)
    guard !operations.isEmpty else {
      throw Failure(.finding, "`\(name)` already has the schema of the history")
    }
    possible = SchemaRenaming.possible(
      from: latest, to: wanted, besides: renamings, application)
  }
}
