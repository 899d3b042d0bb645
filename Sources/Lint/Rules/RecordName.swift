import SchemaSQLText

extension Rule {
  static let recordName = Rule(
    id: "record-name",
    section: .breaksDevices,
    severities: Severities(.off, .off, .error, crSQLite: .off),
    concernsSyncedSchema: true,
    why: """
      sqlite-data keeps each row in a CloudKit record, whose name is the row's key, a colon and the \
      table. A record's name is ASCII, at most 255 bytes long, and does not begin with an underscore; \
      a colon in the name of a table would make it ambiguous. Such a row never leaves its device.
      """,
    fix: "Choose another name before it ships: afterwards it can never be changed.",
    bad: Rule.Example(.sqliteData, tableManifest("größen")),
    good: Rule.Example(.sqliteData, tableManifest("sizes")),
    check: { timeline, scope in
      timeline.changes.compactMap { change in
        guard let table = change.after, !table.isVirtual,
          scope.syncs(table.name, in: change.migration),
          !change.judged(scope).contains(where: { $0.key == table.key }),
          let problem = problem(ofTable: table.name)
        else { return nil }
        return timeline.draft(
          "the table name \(table.name) \(problem)", at: change.removal ?? change.shaped,
          keys: ["to", "name", "table"], object: table.name, table: table.name)
      }
    })
}

/// What a record's name leaves for the table: 255 bytes, without a UUID and the colon after it.
private let longestTableName = 255 - 36 - 1

private func problem(ofTable name: String) -> String? {
  if name.utf8.contains(UInt8(ascii: ":")) {
    return "holds a colon, which separates key and table in the names of records"
  }
  if name.utf8.contains(where: { $0 >= 0x80 }) {
    return "is not ASCII: no record can be named after it"
  }
  if name.utf8.first == UInt8(ascii: "_") {
    return "begins with an underscore, which CloudKit keeps for itself"
  }
  if name.utf8.count > longestTableName {
    return "is longer than \(longestTableName) bytes: with a key before it, it is no record's name"
  }
  return nil
}
