import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let cloudKitName = Rule(
    id: "cloudkit-name",
    section: .breaksDevices,
    severities: Severities(.off, .off, .error, crSQLite: .off),
    concernsSyncedSchema: true,
    why: """
      sqlite-data stores each row in a CloudKit record. The record's name is the row's key and its \
      table, with a colon between them. CloudKit accepts at most 255 ASCII bytes, and no \
      underscore at the beginning. The record's fields are the row's columns. CloudKit reserves \
      `creationDate`, `creatorUserRecordID`, `etag`, `lastModifiedUserRecordID`, \
      `modificationDate`, `modifiedByDevice`, `recordChangeTag`, `recordID` and `recordType`. A \
      row of a table with such a name never leaves its device.
      """,
    fix: "Choose another name before the release: a synced name can never change afterwards.",
    examples: Example(.sqliteData, after: []),
    wrong: tableManifest("notes", columns: "{ name: modificationDate, type: TEXT }"),
    right: tableManifest("notes", columns: "{ name: modifiedAt, type: TEXT }"),
    check: .history { timeline, scope in
      timeline.syncedTables(scope).flatMap { table -> [Draft] in
        let name = nameProblem(table.name).flatMap { problem in
          timeline.origin(of: { old, _ in old.key == table.key }, in: table).map { change in
            timeline.draft(
              "the table name `\(table.name)` \(problem)", at: change.removal ?? change.shaped,
              keys: ["to", "name", "table"], object: table.name, table: table.name)
          }
        }
        let columns = table.columns.filter { reservedColumns.contains($0.key) }.compactMap {
          column in
          timeline.origin(of: { old, _ in old.column(column.key) != nil }, in: table).map {
            change in
            timeline.draft(
              "CloudKit reserves the field name `\(column.name)`: rows of `\(table.name)` cannot be "
                + "uploaded",
              about: column, of: table, at: change.newestPlace(of: column),
              keys: ["to", "column", "columns", "table"])
          }
        }
        return [name].compactMap { $0 } + columns
      }
    })
}

private let reservedColumns: Set<Identifier> = Set(
  [
    "creationDate", "creatorUserRecordID", "etag", "lastModifiedUserRecordID", "modificationDate",
    "modifiedByDevice", "recordChangeTag", "recordID", "recordType",
  ].map(\.identifier))

/// 255 bytes minus a UUID and the colon after it.
private let longestTableName = 255 - 36 - 1

private func nameProblem(_ name: String) -> String? {
  if name.utf8.contains(UInt8(ascii: ":")) {
    return "contains a colon, which separates key and table in the names of CloudKit records"
  }
  if name.utf8.contains(where: { $0 >= 0x80 }) {
    return "is not ASCII, as the names of CloudKit records must be"
  }
  if name.utf8.first == UInt8(ascii: "_") {
    return "begins with an underscore, which CloudKit reserves"
  }
  if name.utf8.count > longestTableName {
    return "is longer than \(longestTableName) bytes: with a key it exceeds the 255 bytes of a "
      + "CloudKit record name"
  }
  return nil
}
