import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaSQLText

/// The pending migrations as the leader receives them.
struct RemoteSending {
  var plans: [RemotePlan] = []
  var ranges: [RangedStatement] = []
  /// Why migrations cannot run on dqlite (65), in order.
  var refusals: [Failure] = []

  /// For `plan`.
  var notes: [String] {
    let order =
      "each migration is one transaction on the leader: first its row in the ledger, then its statements, then the "
      + "checks of the schema and of foreign keys; `plan --sql` prints them in this order"
    return (plans.isEmpty ? [] : [order])
      + ranges.map { range in
        "\(range.migration): the \(range.rows.inWords) rows of \(range.table) are changed in key ranges of at most "
          + "\(milliseconds(TableLoad.longest)) ms each, all in one transaction"
      }
      + refusals.dropFirst().map { refusal in
        "\(refusal.migration?.id ?? ""): \(refusal.message)"
      }
  }

  /// All statements in their order, and as comments the questions that schemactl asks between them.
  func script(of report: PlanReport) -> String {
    var lines = [
      "-- The statements for the leader, in their order. schemactl sends them itself.",
      "PRAGMA foreign_keys = OFF;", "PRAGMA cache_spill = OFF;",
    ]
    var ledger = report.hasLedger ? [] : [terminated(report.ledger.createStatement)]
    if !report.adopted.isEmpty {
      lines += ["", "BEGIN IMMEDIATE;"] + ledger
      lines +=
        report.adopted.map { terminated($0.insertStatement(into: report.ledger)) } + ["COMMIT;"]
      ledger = []
    }
    for plan in plans {
      lines += ["", "-- \(oneLine(plan.migration.id))", "BEGIN IMMEDIATE;"] + ledger
      lines.append(plan.planned.statement(for: report.ledger))
      for (number, step) in plan.steps.enumerated() {
        lines += script(step, number, plan.migration.id)
      }
      lines += [
        "-- asked here: the schema, and foreign keys",
        "UPDATE main.\(report.ledger.name) SET milliseconds = ?1 WHERE id = "
          + Quoting.stringLiteral(plan.migration.id) + ";", "COMMIT;",
      ]
      ledger = []
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func script(_ step: RemoteStep, _ number: Int, _ migration: String) -> [String] {
    switch step.action {
    case .question(let question): [asked(question.condition)]
    case .assertion(let assertion): [asked(assertion.query.text)]
    case .statement(let statement):
      if let range = ranges.first(where: {
        $0.migration == migration && $0.step == number
      }) {
        ["-- in key ranges, from rowid ?1 to rowid ?2:", terminated(range.sql)]
      } else {
        [terminated(statement.sql)]
      }
    }
  }

  private func asked(_ question: String) -> String { "-- asked here: \(oneLine(question))" }
}
