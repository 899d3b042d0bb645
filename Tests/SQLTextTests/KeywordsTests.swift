import SchemaSQLText
import Testing

@Suite("Keywords")
struct KeywordsTests {
  @Test("the reserved words of version 1 never change")
  func pinned() {
    #expect(
      Keywords.reservedVersion1.sorted().map(\.text).joined(separator: " ") == """
        ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE \
        DEFAULT DEFERRABLE DELETE DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING \
        IN INDEX INSERT INTERSECT INTO IS ISNULL JOIN LIMIT NOT NOTHING NOTNULL NULL ON OR ORDER \
        PRIMARY REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING \
        VALUES WHEN WHERE
        """)
  }

  @Test(
    "a keyword is recognised in any case, whether or not it may be a name",
    arguments: [
      "select", "Key", "REPLACE", "left", "WITHIN", "current_timestamp", "Materialized", "INDEXED",
      "generated", "over", "window", "autoincrement",
    ])
  func keyword(word: String) {
    #expect(Keywords.isKeyword(word))
  }

  @Test(
    "other words are not keywords",
    arguments: ["", "selects", "rowid", "true", "STORED", "STRICT", "ſelect", "CURRENT_TIMESTAMPS"])
  func noKeyword(word: String) {
    #expect(!Keywords.isKeyword(word))
  }
}
