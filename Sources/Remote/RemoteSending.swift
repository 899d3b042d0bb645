import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaSQLText

/// The pending migrations in the form in which the leader receives them.
struct RemoteSending {
  var plans: [RemotePlan] = []
  /// The reasons why migrations cannot run on dqlite (65), in order.
  var refusals: [Failure] = []

  /// Notes for the output of `plan`.
  var notes: [String] {
    let order =
      "each migration is one transaction on the leader: its row in the ledger, its statements, "
      + "then the checks of the schema and of foreign keys. `plan --sql` prints them in this order"
    return (plans.isEmpty ? [] : [order])
      + plans.flatMap { plan in
        plan.steps.compactMap(\.ranges).map { statement, load in
          "\(plan.migration.id): schemactl changes the \(load.rows.inWords) rows of "
            + "`\(statement.table)` in key ranges of at most \(milliseconds(TableLoad.longest)) ms "
            + "each, all in one transaction"
        }
      }
      + refusals.dropFirst().map { refusal in
        "\(refusal.migration?.id ?? ""): \(refusal.message)"
      }
  }

  /// Returns all statements in order. The queries that schemactl sends between them are comments.
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
      lines += ["", "-- \(plan.migration.id.visibleLine)", "BEGIN IMMEDIATE;"] + ledger
      lines.append(plan.planned.statement(for: report.ledger))
      lines += plan.steps.flatMap(script)
      lines += [
        "-- asked here: the schema, and foreign keys",
        "UPDATE main.\(report.ledger.name) SET milliseconds = ?1 WHERE id = "
          + Quoting.stringLiteral(plan.migration.id) + ";", "COMMIT;",
      ]
      ledger = []
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func script(_ step: RemoteStep) -> [String] {
    switch step.action {
    case .question(let question): [asked(question.condition)]
    case .assertion(let assertion): [asked(assertion.query.text)]
    case .statement(let statement):
      if let ranged = step.ranges?.statement {
        ["-- in key ranges, from rowid ?1 to rowid ?2:", terminated(ranged.sql)]
      } else {
        [terminated(statement.sql)]
      }
    }
  }

  private func asked(_ question: String) -> String { "-- asked here: \(question.visibleLine)" }
}
