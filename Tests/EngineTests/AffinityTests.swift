import SchemaPlanning
import SchemaSQLite
import Testing

@Test(
  "a declared type has the same affinity as in SQLite",
  arguments: [
    "", "INT", "BIGINT", "integer", "FLOATING POINT", "CHARINT", "VARCHAR(20)", "xtextx", "CLOB",
    "blob", "BLOBTEXT", "DOUBLE PRECISION", "REAL", "FLOAT", "DECIMAL(10, 5)", "STRING", "\"Ä\"",
    "DATE", "NUMERIC", "\"i n t\"", "i",
  ])
func affinity(type: String) throws {
  let connection = try Connection(path: nil)
  try connection.execute("CREATE TABLE t (c \(type)); INSERT INTO t VALUES (7), ('7'), ('1.5')")
  let kinds = try connection.rows("SELECT typeof(c) FROM t").map { $0[0].text ?? "" }
  // Only CAST distinguishes INTEGER from NUMERIC.
  let cast = type.isEmpty ? "" : try connection.value("SELECT typeof(CAST('1.5' AS \(type)))")?.text
  let expected: Affinity =
    switch (kinds[0], kinds[1]) {
    case ("text", _): .text
    case ("integer", "text"): .blob
    case ("real", _): .real
    default: cast == "integer" ? .integer : .numeric
    }
  #expect(Affinity(ofType: type) == expected)
}
