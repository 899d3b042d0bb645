import SchemaModel

extension Rule {
  static let reservedName = Rule(
    id: "reserved-name",
    severities: Severities(.off, .off, .error, crSQLite: .off),
    why: """
      sqlite-data keeps each row in a CloudKit record: its columns are the record's fields, and its \
      name is the row's key, a colon and the table. CloudKit keeps some field names for itself: \
      creationDate, creatorUserRecordID, etag, lastModifiedUserRecordID, modificationDate, \
      modifiedByDevice, recordChangeTag, recordID and recordType. A record's name is ASCII, at most \
      255 bytes long, and does not begin with an underscore; a colon in the name of a table would \
      make it ambiguous.
      """,
    fix: "Choose another name before it ships: afterwards it can never be changed.",
    bad: Rule.Example(
      .sqliteData, tableManifest("notes", columns: "{ name: modificationDate, type: TEXT }")),
    good: Rule.Example(
      .sqliteData, tableManifest("notes", columns: "{ name: modifiedAt, type: TEXT }")),
    check: { timeline, scope in
      timeline.changes.flatMap { change -> [Draft] in
        guard let table = change.after, !table.isVirtual,
          scope.syncs(table.name, in: change.migration)
        else { return [] }
        var drafts: [Draft] = []
        let known = change.judged(scope)
        let isNewName = !known.contains {
          $0.name.asciiLowercased == table.name.asciiLowercased
        }
        if isNewName, let problem = problem(ofTable: table.name) {
          drafts.append(
            timeline.draft(
              "the table name \(table.name) \(problem)", at: change.removal ?? change.shaped,
              keys: ["to", "name", "table"], object: table.name, table: table.name))
        }
        for column in change.newColumns(countsStaged: change.stagedWasJudged(scope))
        where reservedColumns.contains(column.name.asciiLowercased) {
          drafts.append(
            timeline.draft(
              "\(table.name).\(column.name) has a name that CloudKit keeps for itself: the record of "
                + "such a row cannot be saved",
              at: change.newest(of: [change.place(of: column.name)]),
              keys: ["to", "column", "columns", "table"], column: column.name,
              object: "\(table.name).\(column.name)", table: table.name))
        }
        return drafts
      }
    })
}

private let reservedColumns: Set<String> = Set(
  [
    "creationDate", "creatorUserRecordID", "etag", "lastModifiedUserRecordID", "modificationDate",
    "modifiedByDevice", "recordChangeTag", "recordID", "recordType",
  ].map(\.asciiLowercased))

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
