import SchemaSQLText

extension ManifestDecoder {
  mutating func tableDefinition(_ fields: Fields, name: String) -> TableDefinition {
    let columns = fields.elements("columns")
    var table = TableDefinition(
      name: self.name(fields[name]), columns: columns.map { column($0) })
    table.primaryKey = names(fields["primary_key"])
    table.unique = fields.elements("unique").map(names)
    table.checks = fields.elements("checks").map { sql($0) }
    table.foreignKeys = fields.elements("foreign_keys").map { foreignKey(Fields($0)) }
    table.strict = flag(fields["strict"])
    table.withoutRowid = flag(fields["without_rowid"])
    checkDistinct(
      columns.map { node in
        let name = Fields(node)["name"]
        return (self.name(name), (name ?? node).position)
      }, "column")
    checkPrimaryKey(of: table, fields)
    checkColumnsExist(in: table, fields)
    return table
  }

  private mutating func checkPrimaryKey(of table: TableDefinition, _ fields: Fields) {
    let keys = fields.elements("columns").map { Fields($0) }.filter { flag($0["primary_key"]) }
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

  /// Keys and constraints can only name columns of the table.
  private mutating func checkColumnsExist(in table: TableDefinition, _ fields: Fields) {
    let columns = table.columns.map(\.name)
    // A name that could not be read may be the one that is missing.
    guard !columns.isEmpty, !columns.contains("") else { return }
    var lists = [fields["primary_key"]] + fields.elements("unique")
    lists += fields.elements("foreign_keys").map { Fields($0)["columns"] }
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
    let near = suggestion(for: name, among: columns).map { ": did you mean \(quoted($0))?" }
    report("the table has no column \(quoted(name))\(near ?? "")", at: node.position)
  }

  private mutating func foreignKey(_ fields: Fields) -> ForeignKeyDefinition {
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

  mutating func renameTable(_ fields: Fields) -> Operation.Kind {
    let table = name(fields["table"])
    checkRename(from: table, to: fields["to"], "table")
    return .renameTable(table: table, to: name(fields["to"]))
  }

  mutating func rebuildTable(_ fields: Fields) -> Operation.Kind {
    var rebuild = RebuildTable(table: tableDefinition(fields, name: "table"))
    rebuild.sql = fields["sql"].map { sql($0) }
    checkSaysAll(fields)
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

  private mutating func checkSaysAll(_ fields: Fields) {
    guard fields["sql"] != nil else { return }
    for key in ["primary_key", "unique", "checks", "foreign_keys", "strict", "without_rowid"]
    where fields[key] != nil {
      report(
        "`\(key)` needs `columns`: with `sql`, write it in the statement",
        at: fields.position(of: key))
    }
  }

  func convertPrimaryKey(_ fields: Fields) -> Operation.Kind {
    .convertPrimaryKey(
      ConvertPrimaryKey(
        table: name(fields["table"]), uuids: choice(fields["uuids"]) ?? .perDatabase))
  }

  func createIndex(_ fields: Fields) -> Operation.Kind {
    var index = IndexDefinition(
      name: name(fields["name"]), table: name(fields["table"]),
      columns: fields.elements("columns").map(indexColumn))
    index.unique = flag(fields["unique"])
    index.where = fields["where"].map { sql($0) }
    return .createIndex(index)
  }

  private func indexColumn(_ node: Node) -> IndexDefinition.Column {
    guard node.entries != nil else { return .init(term: .column(text(node))) }
    let fields = Fields(node)
    return .init(
      term: fields["expression"].map { .expression(sql($0)) } ?? .column(name(fields["column"])),
      descending: choice(fields["order"]) == SortOrder.descending,
      collate: fields["collate"].map(text))
  }

  func createVirtualTable(_ fields: Fields) -> Operation.Kind {
    .createVirtualTable(
      name: name(fields["name"]), using: name(fields["using"]),
      arguments: fields.elements("arguments").map { sql($0) })
  }
}

extension ManifestDecoder {
  mutating func insert(_ fields: Fields) -> Operation.Kind {
    .insert(
      table: name(fields["table"]),
      rows: fields.elements("rows").map { node in
        let entries = node.entries ?? []
        checkDistinctKeys(entries)
        return InsertedRow(
          cells: entries.map { .init(column: $0.key.text, value: literal($0.value)) },
          position: node.position)
      })
  }

  mutating func update(_ fields: Fields) -> Operation.Kind {
    .update(
      table: name(fields["table"]), set: assignments(fields["set"]?.entries ?? []),
      where: fields["where"].map { sql($0) })
  }

  mutating func assignments(_ entries: [Node.Entry]) -> [Assignment] {
    checkDistinctKeys(entries)
    return entries.map { Assignment(column: $0.key.text, expression: sql($0.value)) }
  }

  /// Keys that differ only in ASCII case: the reader has reported those that are equal.
  private mutating func checkDistinctKeys(_ entries: [Node.Entry]) {
    checkDistinct(entries.map { ($0.key.text, $0.key.position) }, "column")
  }
}
