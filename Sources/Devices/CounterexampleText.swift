import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

extension Counterexample {
  /// One line that states the harm and the affected device.
  func message(_ sender: Device, _ receiver: Device) -> String {
    // If both devices changed the row, the sender may refuse it, although it created the row.
    let victim = (steps.last?.role == .sender ? sender : receiver).version
    let name = spelt([receiver, sender])
    return "\(sender.version.device) \(actions); \(victim.device) \(consequence(name))"
  }

  /// The column as the first device with the column spells it, or the table.
  func spelt(_ devices: [Device]) -> String {
    guard let column else { return table }
    let names = devices.lazy.compactMap { device in
      device.tables[table.identifier]?.column(column)?.name
    }
    return "\(table).\(names.first ?? column.text)"
  }

  private func consequence(_ name: String) -> String {
    switch harm {
    case .noTable: "has no table `\(table)`, and the row is lost"
    case .noColumn: "has no column `\(name)`, and the value is lost"
    case .refused(let message): "refuses it: \(message)"
    case .changed(let sent, let kept):
      "keeps \(kept.shortLiteral) in `\(name)` instead of \(sent.shortLiteral)"
    case .missingRow: "does not keep each row of `\(table)`"
    }
  }

  // MARK: The script

  /// The statements that reproduce the harm in two `sqlite3` shells.
  func transcript(_ sender: Device, _ receiver: Device) -> DeviceTranscript {
    let schemas = [Step.Role.sender: sender, .receiver: receiver].mapValues {
      ScriptSchema($0, tables, hasTriggers: mayNeedTriggers)
    }
    var transcript = DeviceTranscript(sender.version.device, receiver.version.device)
    transcript.turns = turns(schemas)
    transcript.outcome = outcome
    return transcript
  }

  /// Whether triggers may cause the harm. They do not cause a changed value, because the simulation
  /// repeats that test without triggers.
  private var mayNeedTriggers: Bool {
    switch harm {
    case .refused, .missingRow: true
    case .noTable, .noColumn, .changed: false
    }
  }

  private func turns(_ schemas: [Step.Role: ScriptSchema]) -> [DeviceTranscript.Turn] {
    var turns: [DeviceTranscript.Turn] = []
    var begun: Set<Step.Role> = []
    for step in steps {
      let isSender = step.role == .sender
      if turns.last?.isSender != isSender {
        let schema =
          begun.insert(step.role).inserted
          ? schemas[step.role]?.statements.flatMap(\.linesOfSQL) ?? [] : []
        turns.append(DeviceTranscript.Turn(isSender: isSender, schema: schema))
      }
      turns[turns.count - 1].statements += shellScript(terminated(step.sql)).linesOfSQL
    }
    return turns
  }

  private var outcome: String {
    switch harm {
    case .noTable: "Refused: no such table: \(table)"
    case .noColumn(let first): "Refused: table \(table) has no column named \(first)"
    case .refused(let message): "Refused: \(message)"
    case .changed(let sent, let kept): "\(kept.shortLiteral), and not \(sent.shortLiteral)"
    case .missingRow: "There should be one more."
    }
  }
}

/// The part of a device's schema that a script needs.
private struct ScriptSchema {
  private(set) var statements: [String] = []

  init(_ device: Device, _ tables: Set<Identifier>, hasTriggers: Bool) {
    if device.enforcesForeignKeys { statements.append("PRAGMA foreign_keys = ON;") }
    let needed = device.withParents(tables)
    // A trigger may use any object.
    let needsAll =
      hasTriggers
      && device.schema.objects.contains {
        $0.kind == .trigger && needed.contains($0.table.identifier)
      }
    var missing: Set<Identifier> = []
    let objects = SchemaObject.Kind.allCases.flatMap { kind in
      device.schema.objects.filter { $0.kind == kind && !$0.isInternal }
    }
    for object in objects {
      guard let sql = object.sql else { continue }
      guard
        needsAll
          || object.kind != .trigger && needed.contains(object.table.identifier)
            && IndexShape(object)?.acceptsEveryRow != true
      else { continue }
      let portable = PortableSQL(sql, without: device.functions)
      missing.formUnion(portable.missing)
      statements.append(shellScript(terminated(portable.text)))
    }
    if !missing.isEmpty {
      let names = missing.sorted().map(\.text).joined(separator: ", ")
      statements.insert("-- Functions of the app, which the shell does not have: \(names)", at: 0)
    }
  }
}

extension String {
  /// The lines of SQL. A line feed in a name, a literal or a comment does not start a new line.
  fileprivate var linesOfSQL: [String] {
    let sql = TokenizedSQL(self)
    var lines = [""]
    for token in sql.tokens {
      let pieces =
        token.kind == .whitespace
        ? sql.text(token).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        : [sql.text(token)]
      lines[lines.count - 1] += pieces[0]
      lines += pieces.dropFirst()
    }
    return lines
  }
}
