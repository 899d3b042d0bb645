/// Answers SQL queries: a connection, or a database that is accessed in another way.
package protocol RowSource {
  func rows(_ sql: String, _ values: [Value]) throws(DatabaseError) -> [[Value]]
}

extension RowSource {
  package func rows(_ sql: String) throws(DatabaseError) -> [[Value]] { try rows(sql, []) }

  /// The CREATE statement of a table; nil if the database does not have the table.
  package func sql(ofTable name: String) throws(DatabaseError) -> String? {
    try rows(
      "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
      [.text(name)]
    ).first?[0].text
  }
}

extension Connection: RowSource {}
