import SQLText
import SQLite
import SchemaModel

extension ParsedTable {
  /// How records of the table hold some of its columns.
  ///
  /// - Parameter encoding: of the database, as `PRAGMA encoding` says it.
  func storedColumns(_ names: [String], encoding: String) -> [StoredColumn] {
    var places: [String: Int] = [:]
    for column in parsed.columns where column.isStored {
      places[column.name.text.asciiLowercased] = places.count
    }
    let alias = hasRowidAlias ? identity.first : nil
    return names.compactMap { name in
      guard let place = places[name.asciiLowercased], let column = parsed.column(named: name)
      else { return nil }
      return StoredColumn(
        place: place, isRowid: alias.map(column.name.isSame(as:)) ?? false,
        isReal: Affinity(ofType: column.type?.text ?? "") == .real,
        inOlderRows: valueInOlderRows(of: column, encoding))
    }
  }

  /// What SQLite reads in rows that are older than a column: asked of a table that gets such a column.
  ///
  /// - Returns: nil where SQLite lets no table with rows have such a default.
  private func valueInOlderRows(of column: CreateTable.Column, _ encoding: String) -> StoredValue? {
    let clause = column.constraints.last { if case .default = $0.kind { true } else { false } }
    guard let clause else { return .null }
    let definition = [column.type?.range, clause.range].compactMap { $0 }
      .map { String(decoding: tokens.bytes[$0], as: UTF8.self) }.joined(separator: " ")
    do throws(DatabaseError) {
      let database = try Connection(path: nil)
      try database.execute(
        """
        PRAGMA encoding = \(Quoting.stringLiteral(encoding));
        CREATE TABLE old (first INTEGER)\(parsed.isStrict ? " STRICT" : "");
        INSERT INTO old VALUES (1);
        ALTER TABLE old ADD COLUMN later \(definition);
        """)
      let row = try database.rows(
        "SELECT typeof(later), iif(typeof(later) = 'text', CAST(later AS BLOB), later) FROM old")[0]
      return StoredValue(row[1], isText: row[0] == .text("text"))
    } catch {
      return nil
    }
  }
}
