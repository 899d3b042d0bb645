import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaSQLText

extension TextReporter {
  func show(_ entries: [LedgerEntry], _ rows: [LedgerRow], _ repairs: [RecordedRepair]) {
    let width = entries.map(\.id.visible.count).max() ?? 0
    for entry in entries {
      let row = rows.first { $0.id == entry.id }
      let time =
        row.map {
          "  \($0.startedAt.visible)  " + ($0.isAdopted ? "adopted" : "\($0.milliseconds) ms")
        } ?? ""
      let id = entry.id.visible
      say(id + String(repeating: " ", count: width - id.count) + "  \(entry.state.rawValue)\(time)")
      if !entry.detail.isEmpty { say("  \(entry.detail.visible)") }
    }
    for repair in repairs {
      say(
        "repaired \(repair.at.visible): \(repair.id.visible) as \(repair.action.visible): "
          + repair.reason.visible)
    }
    if entries.isEmpty { mention("No migrations.") }
  }

  func show(_ plan: RepairPlan, _ isDone: Bool) {
    guard !isDone else {
      return mention("Recorded \(plan.repair.id.visible) as \(plan.repair.action.rawValue).")
    }
    say("\(plan.repair.id.visible) will be recorded as \(plan.repair.action.rawValue).")
    for entry in plan.after where entry.state.stops {
      say("still wrong: \(entry.id.visible): \(entry.state.rawValue). \(entry.detail.visible)")
    }
    for change in plan.drift { say("the schema does not fit: \(change.sentence.visible)") }
    if plan.isClean { say("The schema is then what the ledger says.") }
  }
}
