import SchemaSQLText

extension Rule {
  static let reservedName = Rule(
    id: "reserved-name",
    section: .breaksDevices,
    severities: Severities(.off, .off, .error, crSQLite: .off),
    concernsSyncedSchema: true,
    why: """
      sqlite-data keeps each row in a CloudKit record, whose fields are the row's columns. CloudKit \
      keeps some names of fields for itself: creationDate, creatorUserRecordID, etag, \
      lastModifiedUserRecordID, modificationDate, modifiedByDevice, recordChangeTag, recordID and \
      recordType. The names of tables are the subject of record-name.
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
        return change.newColumns(countsStaged: change.stagedWasJudged(scope)).filter {
          reservedColumns.contains($0.key)
        }.map { column in
          timeline.draft(
            "\(table.name).\(column.name) has a name that CloudKit keeps for itself: the record of "
              + "such a row cannot be saved",
            at: change.newest(of: [change.place(of: column.name)]),
            keys: ["to", "column", "columns", "table"], column: column.name,
            object: "\(table.name).\(column.name)", table: table.name)
        }
      }
    })
}

private let reservedColumns: Set<Identifier> = Set(
  [
    "creationDate", "creatorUserRecordID", "etag", "lastModifiedUserRecordID", "modificationDate",
    "modifiedByDevice", "recordChangeTag", "recordID", "recordType",
  ].map(\.identifier))
