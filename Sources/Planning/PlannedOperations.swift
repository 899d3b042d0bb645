import SQLText
import SchemaModel

/// Operations of a migration that are done as one, as they were planned.
package struct PlannedOperations: Sendable {
  /// The index of the first in its manifest.
  let start: Int
  /// The schema before it, where plans follow from that and took a while to find.
  let basis: Schema?
  /// One for each of them, in their order.
  package let plans: [OperationPlan]

  /// Whether to find them again takes so long that they are worth keeping.
  package var isKept: Bool { basis != nil }

  /// Whether what was found is found for another schema, too. The order counts, for triggers fire in
  /// it; the ledger does not, for no migration may use it, but what somebody has made on it does.
  func follow(from schema: Schema) -> Bool {
    func asked(_ schema: Schema) -> [SchemaObject] {
      schema.objects.filter { !$0.isOfLedger || $0.kind != .table && !$0.isInternal }
    }
    return basis.map { asked($0).elementsEqual(asked(schema)) { $0.saysTheSame(as: $1) } } ?? false
  }
}
