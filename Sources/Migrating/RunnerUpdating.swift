import ManifestFormat
import Planning
import SQLite

extension Runner {
  /// What is read by a second thread while it changes: rows of a large table, by a plan that changes
  /// no others.
  func provenUpdate(_ plan: OperationPlan, _ context: Context) throws(Failure) -> ProvenUpdate? {
    let updates = plan.steps.compactMap { if case .update(let update) = $0 { update } else { nil } }
    guard target == .database, let update = updates.first, updates.count == 1,
      let proof = plan.proofs.first, plan.proofs.count == 1, let file = fileBeside?()
    else { return nil }
    do {
      return try ProvenUpdate(update, proof, in: file, on: connection, interruption)
    } catch {
      throw context.failure(error)
    }
  }

  func run(_ update: inout ProvenUpdate, _ context: Context) throws(Failure) {
    let statement = update.update.statement
    do {
      try update.run { sql, rowids in
        try stopIfInterrupted(context)
        _ = try run(
          sql, [.integer(rowids.lowerBound), .integer(rowids.upperBound)], of: statement, context)
      }
      try compare(update.before, with: update.after, update.proof, context)
      try onStatement?(
        RunStatement(
          operation: context.index, sql: statement, position: context.operation.position,
          events: statementGuard.events))
    } catch let error as DatabaseError {
      throw context.failure(error, statement: statement)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw context.failure(.bug, "\(error)")
    }
  }
}
