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
