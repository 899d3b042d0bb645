import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// A table as SQLite's PRAGMAs describe it.
package struct DeviceTable: Sendable {
  package struct Column: Sendable {
    package let name: String
    package let key: Identifier
    package let type: String
    package let isNotNull: Bool
    /// Nil when there is none.
    package let defaultText: String?
    package let isGenerated: Bool
    /// The position in the primary key, counted from 1; 0 for other columns.
    package let keyPosition: Int
    package let affinity: Affinity

    package var isInKey: Bool { keyPosition > 0 }
    /// Whether an INSERT must set the column.
    package var isRequired: Bool { isInKey || isNotNull && defaultText == nil }
  }

  package struct ForeignKey: Sendable {
    package let columns: [Identifier]
    package let parent: Identifier
    /// Empty for the parent's primary key.
    package let parentColumns: [Identifier]
  }

  /// A UNIQUE constraint, a unique index or the primary key.
  package struct Unique: Sendable {
    /// Nil for an expression.
    package let columns: [Identifier?]
    package let isPrimaryKey: Bool
  }

  package let name: String
  package let key: Identifier
  /// The columns that can be written.
  package let columns: [Column]
  package let generated: [Column]
  package let foreignKeys: [ForeignKey]
  package let uniques: [Unique]

  /// In the order of the key.
  package var primaryKey: [Column] {
    columns.filter(\.isInKey).sorted { $0.keyPosition < $1.keyPosition }
  }

  package func column(_ name: Identifier) -> Column? { columns.first { $0.key == name } }

  package func column(_ name: String) -> Column? { column(name.identifier) }

  /// The first text column outside of keys, which identifies a row to readers.
  package var label: Column? {
    let references = Set(foreignKeys.flatMap(\.columns))
    return columns.first { column in
      column.affinity == .text && !column.isInKey && !references.contains(column.key)
    }
  }

  /// Whether a foreign key contains the column.
  package func refers(by column: Column) -> Bool {
    foreignKeys.contains { $0.columns.contains(column.key) }
  }

  package init(_ name: String, on connection: Connection) throws(DatabaseError) {
    self.name = name
    key = name.identifier
    let rows = try connection.rows(
      """
      SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)
      """, [.text(name)])
    let all = rows.map { row in
      let (name, type) = (row[0].text ?? "", row[1].text ?? "")
      return Column(
        name: name, key: name.identifier, type: type,
        isNotNull: row[2].integer == 1, defaultText: row[3].text,
        isGenerated: (row[5].integer ?? 0) >= 2, keyPosition: Int(row[4].integer ?? 0),
        affinity: Affinity(ofType: type))
    }
    columns = all.filter { !$0.isGenerated }
    generated = all.filter(\.isGenerated)
    foreignKeys = try Self.foreignKeys(of: name, connection)
    uniques = try Self.uniques(of: name, connection)
  }

  private static func foreignKeys(
    of table: String, _ connection: Connection
  ) throws(DatabaseError) -> [ForeignKey] {
    let rows = try connection.rows(
      """
      SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq
      """, [.text(table)])
    var numbers: [Int64] = []
    for number in rows.compactMap({ $0[0].integer }) where !numbers.contains(number) {
      numbers.append(number)
    }
    return numbers.map { number in
      let parts = rows.filter { $0[0].integer == number }
      return ForeignKey(
        columns: parts.map { ($0[2].text ?? "").identifier },
        parent: (parts[0][1].text ?? "").identifier,
        parentColumns: parts.compactMap { $0[3].text?.identifier })
    }
  }

  private static func uniques(
    of table: String, _ connection: Connection
  ) throws(DatabaseError) -> [Unique] {
    let rows = try connection.rows(
      "SELECT name, origin FROM pragma_index_list(?) WHERE \"unique\" ORDER BY name",
      [.text(table)])
    var uniques: [Unique] = []
    for row in rows {
      let columns = try connection.rows("SELECT name FROM pragma_index_info(?)", [row[0]])
      uniques.append(
        Unique(
          columns: columns.map { $0[0].text?.identifier }, isPrimaryKey: row[1].text == "pk"))
    }
    return uniques
  }
}
