import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaYAML

/// The operations that lead from the latest schema of a history to another schema.
package struct NewOperations: Sendable {
  package let operations: [WrittenOperation]
  /// Renamings that the operations do not contain and that would keep values.
  package let possible: [PossibleRenaming]

  /// - Parameters:
  ///   - source: has the new schema.
  ///   - name: how messages call the source.
  ///   - renamings: the renamed columns and tables.
  /// - Throws: when the source has the schema of the history, when it is a database with pending
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
      throw Failure(.finding, "\(name) already has the schema of the history")
    }
    possible = SchemaRenaming.possible(
      from: latest, to: wanted, besides: renamings, application)
  }
}
