import SchemaSQLText

extension ManifestDecoder {
  mutating func column(_ node: Node?) -> ColumnDefinition {
    guard let node else {
      return ColumnDefinition(name: "", position: Position(line: 1, column: 1))
    }
    let fields = Fields(node)
    var column = ColumnDefinition(name: name(fields["name"]), position: node.position)
    column.type = fields["type"].map(text)
    column.primaryKey = flag(fields["primary_key"])
    column.autoincrement = flag(fields["autoincrement"])
    column.notNull = fields["not_null"].flatMap(notNull)
    column.default = fields["default"].map(literal)
    column.unique = flag(fields["unique"])
    column.check = fields["check"].map { sql($0) }
    column.collate = fields["collate"].map(text)
    column.references = fields["references"].map { columnReference(Fields($0)) }
    column.generated = fields["generated"].map(generated)
    if column.autoincrement, !column.primaryKey || column.type?.identifier != "integer" {
      report(
        "`autoincrement` needs `type: INTEGER` and `primary_key: true`",
        at: fields.position(of: "autoincrement"))
    }
    return column
  }

  private func notNull(_ node: Node) -> NotNull? {
    if node.entries != nil { return choice(Fields(node)["on_conflict"]).map(NotNull.onConflict) }
    return flag(node) ? .plain : nil
  }

  private func columnReference(_ fields: Fields) -> Reference {
    var reference = reference(fields)
    reference.columns = fields["column"].map { [text($0)] } ?? []
    return reference
  }

  /// All but the parent's columns, which a column's and a table's foreign key name differently.
  func reference(_ fields: Fields) -> Reference {
    var reference = Reference(table: name(fields["table"]))
    reference.onDelete = choice(fields["on_delete"])
    reference.onUpdate = choice(fields["on_update"])
    reference.deferrable = flag(fields["deferrable"])
    return reference
  }

  private func generated(_ node: Node) -> Generated {
    let fields = Fields(node)
    return Generated(expression: sql(fields["as"]), stored: flag(fields["stored"]))
  }

  mutating func renameColumn(_ fields: Fields) -> Operation.Kind {
    let from = name(fields["from"])
    checkRename(from: from, to: fields["to"], "column")
    return .renameColumn(table: name(fields["table"]), from: from, to: name(fields["to"]))
  }

  // MARK: alter_column

  mutating func alterColumn(_ fields: Fields) -> Operation.Kind {
    var alter = AlterColumn(table: name(fields["table"]), column: name(fields["column"]))
    alter.type = change(fields["type"], text)
    alter.notNull =
      fields["not_null"].map { node in notNull(node).map { .set($0) } ?? .remove } ?? .keep
    alter.default = change(fields["default"], literal)
    alter.collate = change(fields["collate"], text)
    alter.check = change(fields["check"]) { sql($0) }
    alter.references = change(fields["references"]) { columnReference(Fields($0)) }
    alter.generated = change(fields["generated"], generated)
    if Grammar.changeableProperties.allSatisfy({ fields[$0] == nil }) {
      let properties = listed(Grammar.changeableProperties.map { "`\($0)`" }, "or")
      report("`alter_column` changes nothing: give it \(properties)", at: fields.position)
    }
    return .alterColumn(alter)
  }

  private func change<Value>(_ node: Node?, _ decode: (Node) -> Value) -> Change<Value> {
    guard let node else { return .keep }
    return node.isNull ? .remove : .set(decode(node))
  }

  // MARK: move_column

  mutating func moveColumn(_ fields: Fields) -> Operation.Kind {
    let mapped = mappedValues(fields["map"])
    var move = MoveColumn(
      table: name(fields["table"]), from: name(fields["from"]), to: column(fields["to"]),
      mapping: fields["using"].map { .using(sql($0)) } ?? .map(mapped))
    move.keepSource = flag(fields["keep_source"])
    move.mirror = flag(fields["mirror"])
    move.mapBack = mappedValues(fields["map_back"])
    move.renamesDependents = fields["dependents"] != nil
    checkMovesToAnotherName(move, fields)
    if move.keepSource, move.renamesDependents {
      report(
        "`dependents` and `keep_source` exclude each other: remove one",
        at: fields.position(of: "dependents"))
    }
    if move.mirror {
      checkMirror(move, mapped, fields)
    } else if fields["map_back"] != nil {
      report("`map_back` needs `mirror: true`", at: fields.position(of: "map_back"))
    }
    return .moveColumn(move)
  }

  private mutating func checkMovesToAnotherName(_ move: MoveColumn, _ fields: Fields) {
    guard !move.from.isEmpty, move.from.isSameName(as: move.to.name) else { return }
    report(
      "the new column has the name of the old one, \(quoted(move.from)): "
        + "give it another name, or use `alter_column`",
      at: fields["to"].flatMap { Fields($0)["name"] }?.position ?? fields.position)
  }

  private mutating func checkMirror(_ move: MoveColumn, _ mapped: [MappedValue], _ fields: Fields) {
    let position = fields.position(of: "mirror")
    if !move.keepSource { report("`mirror` needs `keep_source: true`", at: position) }
    if fields["using"] != nil {
      report(
        "`mirror` needs `map`: schemactl cannot invert an expression",
        at: fields.position(of: "using"))
    }
    guard fields["map_back"] != nil else {
      return report("`mirror` needs `map_back`", at: position)
    }
    var named = Set(move.mapBack.map(\.from))
    let missing = mapped.map(\.to).filter { named.insert($0).inserted }
    if !missing.isEmpty {
      report(
        "`map_back` must name each value that `map` gives: \(missing.abbreviatedList) "
          + (missing.count == 1 ? "is missing" : "are missing"),
        at: fields.position(of: "map_back"))
    }
    checkLeadsBack(move.mapBack, mapped, fields)
  }

  /// A value that `map` gives leads back to one that it gives it for: there and back changes nothing.
  private mutating func checkLeadsBack(
    _ mapBack: [MappedValue], _ mapped: [MappedValue], _ fields: Fields
  ) {
    for (back, node) in zip(mapBack, fields["map_back"]?.entries ?? []) {
      let origins = mapped.filter { $0.to == back.from }.map(\.from)
      guard !origins.isEmpty, !origins.contains(back.to) else { continue }
      report(
        "`map_back` must undo `map`, which gives \(quoted(back.from.shown)) for "
          + "\(origins.abbreviatedList), not for \(quoted(back.to.shown))", at: node.value.position)
    }
  }

  private mutating func mappedValues(_ node: Node?) -> [MappedValue] {
    var lines: [Literal: Int] = [:]
    return (node?.entries ?? []).map { entry in
      let from = literal(entry.keyNode)
      if let line = lines.updateValue(entry.key.position.line, forKey: from) {
        report(
          "duplicate value \(quoted(entry.key.text)): it equals the value on line \(line)",
          at: entry.key.position)
      }
      return MappedValue(from: from, to: literal(entry.value))
    }
  }
}

extension [Literal] {
  /// At most ten values of forty characters.
  fileprivate var abbreviatedList: String {
    let shown = prefix(10).map { quoted($0.shown) }
    return count > 10
      ? shown.joined(separator: ", ") + " and \(count - 10) more" : listed(shown, "and")
  }
}

extension Literal {
  fileprivate var shown: String {
    switch self {
    case .null: "null"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let text): "'\(text)'"
    case .blob(let bytes): "a blob of \(bytes.count) bytes"
    case .sql(let source): source.text
    }
  }
}
