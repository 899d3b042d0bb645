/// Answers questions in SQL: a connection, or a database that is reached in another way.
package protocol RowSource {
  func rows(_ sql: String, _ values: [Value]) throws(DatabaseError) -> [[Value]]
}

extension RowSource {
  package func rows(_ sql: String) throws(DatabaseError) -> [[Value]] { try rows(sql, []) }
}

extension Connection: RowSource {}
