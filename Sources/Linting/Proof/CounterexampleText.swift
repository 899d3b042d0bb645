import Planning
import SQLText
import SQLite
import SchemaModel

extension Counterexample {
  /// One line that says what happens to whom, and a script that shows it in two `sqlite3` shells.
  func message(_ sender: Device, _ receiver: Device) -> String {
    // Who refuses a row, when both have changed it, may be the one that made it.
    let victim = steps.last?.party == .sender ? sender : receiver
    return "\(sender.version.device) \(deeds); \(victim.version.device) \(consequence(victim))\n"
      + script(sender, receiver)
  }

  private func consequence(_ victim: Device) -> String {
    let name = column.map { "\(table).\(spelt($0, victim))" } ?? table
    return switch harm {
    case .noTable: "has no table \(table), and the row is lost"
    case .noColumn: "has no column \(name), and the value is lost"
    case .refused(let message): "refuses it: \(message)"
    case .changed(let sent, let kept):
      "keeps \(kept.shortLiteral) in \(name), where \(sent.shortLiteral) was sent"
    case .gone: "keeps only one of the rows of \(table)"
    }
  }

  private func spelt(_ column: String, _ device: Device) -> String {
    (try? device.table(table.asciiLowercased))?.column(column)?.name ?? column
  }

  // MARK: The script

  private func script(_ sender: Device, _ receiver: Device) -> String {
    var text = ""
    for extent in ScriptSchema.Extent.allCases {
      let schemas = [Step.Party.sender: sender, .receiver: receiver].mapValues {
        ScriptSchema($0, tables, extent)
      }
      text = script(schemas, sender, receiver)
      if shows(schemas) { break }
    }
    return text
  }

  private func script(
    _ schemas: [Step.Party: ScriptSchema], _ sender: Device, _ receiver: Device
  ) -> String {
    var lines: [String] = []
    var party: Step.Party?
    var begun: Set<Step.Party> = []
    for step in steps {
      if step.party != party {
        let name = (step.party == .sender ? sender : receiver).version.device
        let isFirst = begun.insert(step.party).inserted
        let shell =
          switch (isFirst, step.party) {
          case (true, .sender): "-- In one sqlite3 shell, \(name):"
          case (true, .receiver): "-- In another one, \(name), to which it comes:"
          case (false, .sender): "-- In the first shell again:"
          case (false, .receiver): "-- In the second shell again:"
          }
        lines.append(shell)
        if isFirst { lines += schemas[step.party]?.lines ?? [] }
        party = step.party
      }
      lines.append(step.sql + ";")
    }
    return (lines + ["-- \(lesson)"]).joined(separator: "\n")
  }

  private var lesson: String {
    switch harm {
    case .noTable: "Refused: no such table: \(table)"
    case .noColumn: "Refused: the table has no such column"
    case .refused(let message): "Refused: \(message)"
    case .changed(let sent, let kept): "\(kept.shortLiteral), and not \(sent.shortLiteral)"
    case .gone: "There should be one more."
    }
  }

  /// Whether a plain SQLite does what the script says.
  private func shows(_ schemas: [Step.Party: ScriptSchema]) -> Bool {
    do {
      let connections = try schemas.mapValues { (schema) throws(DatabaseError) in
        let connection = try Connection(path: nil)
        try connection.execute(schema.lines.joined(separator: "\n"))
        return connection
      }
      for (index, step) in steps.enumerated() {
        guard let connection = connections[step.party] else { return false }
        do throws(DatabaseError) {
          try connection.execute(step.sql)
        } catch {
          guard index == steps.count - 1 else { return false }
          return switch harm {
          case .refused(let message): error.message == message
          case .noTable, .noColumn: true
          case .changed, .gone: false
          }
        }
      }
    } catch {
      return false
    }
    return switch harm {
    case .changed, .gone: true
    case .refused, .noTable, .noColumn: false
    }
  }
}

/// As much of a device's schema as a script needs.
private struct ScriptSchema {
  enum Extent: CaseIterable {
    /// Tables, with the parents of their foreign keys, and what is unique in them.
    case tables
    /// Their triggers, too.
    case triggers
    case all
  }

  private(set) var lines: [String] = []

  init(_ device: Device, _ tables: Set<String>, _ extent: Extent) {
    if device.enforcesForeignKeys { lines.append("PRAGMA foreign_keys = ON;") }
    let needed = Self.withParents(tables, device)
    var missing: Set<String> = []
    for object in device.schema.objects where !object.isInternal {
      guard let sql = object.sql else { continue }
      let isNeeded =
        switch object.kind {
        case .table: true
        case .index: sql.isUniqueIndex
        case .trigger: extent == .triggers
        case .view: false
        }
      guard extent == .all || isNeeded && needed.contains(object.table.asciiLowercased) else {
        continue
      }
      let portable = PortableSQL(sql, functions: device.functions)
      missing.formUnion(portable.missing)
      lines.append(portable.text + ";")
    }
    if !missing.isEmpty {
      let names = missing.sorted().joined(separator: ", ")
      lines.insert("-- Functions of the app, which the shell does not have: \(names)", at: 0)
    }
  }

  private static func withParents(_ tables: Set<String>, _ device: Device) -> Set<String> {
    var needed = tables
    var rest = Array(tables)
    while let table = rest.popLast() {
      for key in (try? device.table(table))?.foreignKeys ?? []
      where needed.insert(key.parent).inserted {
        rest.append(key.parent)
      }
    }
    return needed
  }
}

extension String {
  fileprivate var isUniqueIndex: Bool {
    guard case .createIndex(let index)? = try? parseCreate(TokenizedSQL(self)) else {
      return false
    }
    return index.isUnique
  }
}

/// A CREATE statement for a shell that knows none of the app's functions: a DEFAULT that calls one
/// becomes another one, since no statement here leaves such a column out.
private struct PortableSQL {
  let text: String
  /// Functions that it calls all the same.
  let missing: Set<String>

  /// - Parameter functions: folded names.
  init(_ sql: String, functions: Set<String>) {
    let tokens = TokenizedSQL(sql)
    var bytes = tokens.bytes
    if case .createTable(let table)? = try? parseCreate(tokens) {
      for column in table.columns.reversed() {
        guard let value = column.defaultExpression,
          !tokens.calls(in: value.range).isDisjoint(with: functions)
        else { continue }
        bytes.replaceSubrange(value.outerRange, with: "(hex(randomblob(16)))".utf8)
      }
    }
    text = String(decoding: bytes, as: UTF8.self)
    let portable = TokenizedSQL(text)
    missing = portable.calls(in: 0..<portable.bytes.count).intersection(functions)
  }
}

extension TokenizedSQL {
  /// The folded names of what is called inside a byte range.
  fileprivate func calls(in range: Range<Int>) -> Set<String> {
    let tokens = significant(in: range)
    return Set(
      zip(tokens, tokens.dropFirst()).compactMap { name, next in
        name.kind == .word && text(next) == "(" ? text(name).asciiLowercased : nil
      })
  }
}
