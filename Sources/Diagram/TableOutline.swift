import SchemaModel
import SchemaSQLText

/// The parts of a table that a diagram and a report show, as SQLite describes them.
package struct TableOutline: Sendable, Hashable {
  package let name: String
  package let columns: [ColumnOutline]
  package let foreignKeys: [StoredTable.ForeignKey]
  package let indexes: [StoredTable.Index]
  package let triggers: [SchemaObject]
  /// The constraints of the table, except for its foreign keys, each on one line.
  package let constraints: [String]
  /// `STRICT`, `WITHOUT ROWID`, or the module of a virtual table.
  package let options: [String]
  package let sql: String

  /// The columns of the primary key, in the order of the key.
  package var primaryKey: [String] {
    columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
  }

  /// Whether two rows cannot have the same values in these columns.
  package func isUnique(_ names: [String]) -> Bool {
    let names = Set(names.map(\.identifier))
    return names == Set(primaryKey.map(\.identifier))
      || indexes.contains { index in
        index.isUnique && !index.isPartial
          && Set(index.columns.map { $0?.identifier }) == Set(names.map(Optional.some))
      }
  }

  package func column(_ name: String) -> ColumnOutline? {
    columns.first { $0.name.isSameName(as: name) }
  }
}

extension [TableOutline] {
  func table(_ name: String) -> TableOutline? { first { $0.name.isSameName(as: name) } }
}

package struct ColumnOutline: Sendable, Hashable {
  package let name: String
  /// The declared type; empty if the column has none.
  package let type: String
  package let isNotNull: Bool
  /// The position in the primary key, counted from 1; 0 for columns outside of the key.
  package let keyPosition: Int
  /// The constraints without foreign keys, each on one line: `NOT NULL`, `DEFAULT 0`.
  package let constraints: [String]
}

extension StoredTable.ForeignKey {
  /// Text such as ` ON DELETE CASCADE`; empty for default actions.
  package var actions: String {
    (onDelete == "NO ACTION" ? "" : " ON DELETE \(onDelete)")
      + (onUpdate == "NO ACTION" ? "" : " ON UPDATE \(onUpdate)")
  }
}
