/// Answers SQL queries: a connection, or a database that is accessed in another way.
package protocol RowSource {
  func rows(_ sql: String, _ values: [Value]) throws(DatabaseError) -> [[Value]]
}

extension RowSource {
  package func rows(_ sql: String) throws(DatabaseError) -> [[Value]] { try rows(sql, []) }
}

extension Connection: RowSource {}
