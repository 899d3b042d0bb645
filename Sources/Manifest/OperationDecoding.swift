import SchemaSQLText
import SchemaSQLite

extension ManifestDecoder {
  mutating func column(_ fields: Node?) -> ColumnDefinition {
    guard let fields else {
      return ColumnDefinition(name: "", position: Position(line: 1, column: 1))
    }
    var column = ColumnDefinition(name: name(fields["name"]), position: fields.position)
    column.type = fields["type"].map(text)
    column.primaryKey = flag(fields["primary_key"])
    column.autoincrement = flag(fields["autoincrement"])
    column.notNull = fields["not_null"].flatMap(notNull)
    column.default = fields["default"].map(literal)
    column.unique = flag(fields["unique"])
    column.check = fields["check"].map { sql($0) }
    column.collate = fields["collate"].map(text)
    column.references = fields["references"].map(columnReference)
    column.generated = fields["generated"].map(generated)
    if column.autoincrement, !column.primaryKey || column.type?.identifier != "integer" {
      report(
        "`autoincrement` needs `type: INTEGER` and `primary_key: true`",
        at: fields.position(of: "autoincrement"))
    }
    return column
  }

  private func notNull(_ node: Node) -> NotNull? {
    if node.entries != nil { return choice(node["on_conflict"]).map(NotNull.onConflict) }
    return flag(node) ? .plain : nil
  }

  private func columnReference(_ fields: Node) -> Reference {
    var reference = reference(fields)
    reference.columns = fields["column"].map { [text($0)] } ?? []
    return reference
  }

  /// Decodes all but the parent's columns. Foreign keys of columns and of tables have different keys for
  /// them.
  func reference(_ fields: Node) -> Reference {
    var reference = Reference(table: name(fields["table"]))
    reference.onDelete = choice(fields["on_delete"])
    reference.onUpdate = choice(fields["on_update"])
    reference.deferrable = flag(fields["deferrable"])
    return reference
  }

  private func generated(_ fields: Node) -> Generated {
    Generated(expression: sql(fields["as"]), stored: flag(fields["stored"]))
  }

  mutating func renameColumn(_ fields: Node) -> Operation.Kind {
    let from = name(fields["from"])
    checkRename(from: from, to: fields["to"], "column")
    return .renameColumn(table: name(fields["table"]), from: from, to: name(fields["to"]))
  }

  // MARK: alter_column

  mutating func alterColumn(_ fields: Node) -> Operation.Kind {
    var alter = AlterColumn(table: name(fields["table"]), column: name(fields["column"]))
    alter.type = change(fields["type"], text)
    alter.notNull =
      fields["not_null"].map { node in notNull(node).map { .set($0) } ?? .remove } ?? .keep
    alter.default = change(fields["default"], literal)
    alter.collate = change(fields["collate"], text)
    alter.check = change(fields["check"]) { sql($0) }
    alter.references = change(fields["references"], columnReference)
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

  mutating func moveColumn(_ fields: Node) -> Operation.Kind {
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

  private mutating func checkMovesToAnotherName(_ move: MoveColumn, _ fields: Node) {
    guard !move.from.isEmpty, move.from.isSameName(as: move.to.name) else { return }
    report(
      "the new column has the name of the old one, \(quoted(move.from)): "
        + "give it another name, or use `alter_column`",
      at: fields["to"]?["name"]?.position ?? fields.position)
  }

  private mutating func checkMirror(_ move: MoveColumn, _ mapped: [MappedValue], _ fields: Node) {
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
    requireInverseMap(move.mapBack, mapped, fields)
  }

  /// Checks that `map_back` undoes `map`: it must map each value that `map` gives to a value for which `map`
  /// gives it.
  private mutating func requireInverseMap(
    _ mapBack: [MappedValue], _ mapped: [MappedValue], _ fields: Node
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
    var lines: [Value: Int] = [:]
    return (node?.entries ?? []).map { entry in
      let from = value(entry.keyNode)
      let isValue = entry.keyNode.scalar != nil || entry.keyNode["blob"] != nil
      if isValue, let line = lines.updateValue(entry.key.position.line, forKey: from) {
        report(
          "duplicate value \(quoted(entry.key.text)): it equals the value on line \(line)",
          at: entry.key.position)
      }
      return MappedValue(from: from, to: value(entry.value))
    }
  }
}

extension [Value] {
  /// At most ten values of forty characters.
  fileprivate var abbreviatedList: String {
    let shown = prefix(10).map { quoted($0.shown) }
    return count > 10
      ? shown.joined(separator: ", ") + " and \(count - 10) more" : listed(shown, "and")
  }
}

// MARK: Tables and rows

extension ManifestDecoder {
  mutating func tableDefinition(_ fields: Node, name: String) -> TableDefinition {
    let columns = fields.elements("columns")
    var table = TableDefinition(
      name: self.name(fields[name]), columns: columns.map { column($0) })
    table.primaryKey = names(fields["primary_key"])
    table.unique = fields.elements("unique").map(names)
    table.checks = fields.elements("checks").map { sql($0) }
    table.foreignKeys = fields.elements("foreign_keys").map { foreignKey($0) }
    table.strict = flag(fields["strict"])
    table.withoutRowid = flag(fields["without_rowid"])
    checkDistinct(
      columns.map { (self.name($0["name"]), ($0["name"] ?? $0).position) }, "column")
    checkPrimaryKey(of: table, fields)
    checkColumnsExist(in: table, fields)
    return table
  }

  private mutating func checkPrimaryKey(of table: TableDefinition, _ fields: Node) {
    let keys = fields.elements("columns").filter { flag($0["primary_key"]) }
    if fields["primary_key"] != nil, let column = keys.first {
      report(
        "the table has a `primary_key` of its own: remove this one, or the table's",
        at: column.position(of: "primary_key"))
    }
    for column in keys.dropFirst() {
      report(
        "a second column with `primary_key: true`: "
          + "list the columns of a compound key in the table's `primary_key`",
        at: column.position(of: "primary_key"))
    }
  }

  /// Checks that keys and constraints name only columns of the table.
  private mutating func checkColumnsExist(in table: TableDefinition, _ fields: Node) {
    let columns = table.columns.map(\.name)
    // A column whose name could not be read may be the missing one.
    guard !columns.isEmpty, !columns.contains("") else { return }
    var lists = [fields["primary_key"]] + fields.elements("unique")
    lists += fields.elements("foreign_keys").map { $0["columns"] }
    for list in lists {
      let elements = list?.elements ?? []
      for name in elements { checkColumnExists(name, among: columns) }
      checkDistinct(elements.map { (text($0), $0.position) }, "column")
    }
  }

  private mutating func checkColumnExists(_ node: Node, among columns: [String]) {
    let name = text(node)
    guard !name.isEmpty, !columns.contains(where: name.isSameName) else {
      return
    }
    report(
      "the table has no column \(quoted(name))", meant: suggestion(for: name, among: columns),
      at: node.position)
  }

  private mutating func foreignKey(_ fields: Node) -> ForeignKeyDefinition {
    var reference = reference(fields)
    reference.columns = names(fields["to"])
    let columns = names(fields["columns"])
    if let parents = fields["to"]?.elements, !parents.isEmpty, !columns.isEmpty,
      parents.count != columns.count
    {
      report(
        "`to` names \(parents.count) and `columns` \(columns.count): "
          + "a foreign key needs a parent column for each column",
        at: fields.position(of: "to"))
    }
    return ForeignKeyDefinition(columns: columns, reference: reference)
  }

  mutating func renameTable(_ fields: Node) -> Operation.Kind {
    let table = name(fields["table"])
    checkRename(from: table, to: fields["to"], "table")
    return .renameTable(table: table, to: name(fields["to"]))
  }

  mutating func rebuildTable(_ fields: Node) -> Operation.Kind {
    var rebuild = RebuildTable(table: tableDefinition(fields, name: "table"))
    rebuild.sql = fields["sql"].map { sql($0) }
    requireNoKeysBesideSQL(fields)
    let copied = fields["copy"]?.entries ?? []
    rebuild.copy = assignments(copied)
    rebuild.where = fields["where"].map { sql($0) }
    rebuild.rowsMayBeLost = flag(fields["rows_may_be_lost"])
    if rebuild.where != nil, !rebuild.rowsMayBeLost {
      report(
        "`where` deletes the other rows: add `rows_may_be_lost: true`",
        at: fields.position(of: "where"))
    }
    let columns = rebuild.table.columns.map(\.name)
    if !columns.isEmpty, !columns.contains("") {
      for entry in copied { checkColumnExists(Node(entry.key), among: columns) }
    }
    return .rebuildTable(rebuild)
  }

  private mutating func requireNoKeysBesideSQL(_ fields: Node) {
    guard fields["sql"] != nil else { return }
    for key in ["primary_key", "unique", "checks", "foreign_keys", "strict", "without_rowid"]
    where fields[key] != nil {
      report(
        "`\(key)` needs `columns`: with `sql`, write it in the statement",
        at: fields.position(of: key))
    }
  }

  func convertPrimaryKey(_ fields: Node) -> Operation.Kind {
    .convertPrimaryKey(
      ConvertPrimaryKey(
        table: name(fields["table"]), uuids: choice(fields["uuids"]) ?? .perDatabase))
  }

  func createIndex(_ fields: Node) -> Operation.Kind {
    var index = IndexDefinition(
      name: name(fields["name"]), table: name(fields["table"]),
      columns: fields.elements("columns").map(indexColumn))
    index.unique = flag(fields["unique"])
    index.where = fields["where"].map { sql($0) }
    return .createIndex(index)
  }

  private func indexColumn(_ node: Node) -> IndexDefinition.Column {
    guard node.entries != nil else { return .init(term: .column(text(node))) }
    return .init(
      term: node["expression"].map { .expression(sql($0)) } ?? .column(name(node["column"])),
      descending: choice(node["order"]) == SortOrder.descending,
      collate: node["collate"].map(text))
  }

  func createVirtualTable(_ fields: Node) -> Operation.Kind {
    .createVirtualTable(
      name: name(fields["name"]), using: name(fields["using"]),
      arguments: fields.elements("arguments").map { sql($0) })
  }

  // MARK: Rows

  mutating func insert(_ fields: Node) -> Operation.Kind {
    .insert(
      table: name(fields["table"]),
      rows: fields.elements("rows").map { node in
        let entries = node.entries ?? []
        checkDistinctKeys(entries)
        return entries.map { Cell(column: $0.key.text, value: literal($0.value)) }
      })
  }

  mutating func update(_ fields: Node) -> Operation.Kind {
    .update(
      table: name(fields["table"]), set: assignments(fields["set"]?.entries ?? []),
      where: fields["where"].map { sql($0) })
  }

  mutating func assignments(_ entries: [Node.Entry]) -> [Assignment] {
    checkDistinctKeys(entries)
    return entries.map { Assignment(column: $0.key.text, expression: sql($0.value)) }
  }

  /// Reports keys that differ only in ASCII case. The YAML reader has already reported equal keys.
  private mutating func checkDistinctKeys(_ entries: [Node.Entry]) {
    checkDistinct(entries.map { ($0.key.text, $0.key.position) }, "column")
  }
}
