import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension FilledDatabase {
  /// The references of each table, by its foreign keys and by the joins of a step.
  static func references(
    of shapes: [Identifier: DeviceTable], _ text: StepText
  ) -> [Identifier: [DeviceTable.Reference]] {
    var references: [Identifier: [DeviceTable.Reference]] = [:]
    let sorted = shapes.values.sorted { $0.key < $1.key }
    var seen: Set<[Identifier]> = []
    let joined = (text.joined + text.joined.map { ($0.1, $0.0) })
      .filter { seen.insert([$0.0, $0.1]).inserted }
    for (name, shape) in shapes {
      var found: [DeviceTable.Reference] = []
      for var key in shape.foreignKeys {
        guard let parent = shapes[key.parent] else { continue }
        if key.parentColumns.isEmpty { key.parentColumns = parent.primaryKey.map(\.key) }
        guard key.parentColumns.count == key.columns.count,
          key.parentColumns.allSatisfy({ parent.column($0) != nil })
        else { continue }
        found.append(key)
      }
      for (a, b) in joined {
        guard shape.column(a) != nil, !found.contains(where: { $0.columns.contains(a) }) else {
          continue
        }
        // A column of the same name in another table is the more likely parent.
        let parents = sorted.lazy.filter { $0.isKey(b) && (!shape.isKey(a) || name > $0.key) }
        guard let parent = parents.first(where: { $0.key != name }) ?? parents.first else {
          continue
        }
        found.append(
          DeviceTable.Reference(
            columns: [a], parent: parent.key, parentColumns: [b],
            isOptional: true))
      }
      references[name] = found
    }
    return references
  }

  /// The table and the tables to which its rows refer, also through other tables.
  func ancestors(of table: Identifier) -> Set<Identifier> {
    reached(from: [table]) { references[$0]?.map(\.parent) ?? [] }
  }
}

extension [Identifier: [DeviceTable.Reference]] {
  /// Whether a column holds keys of a table.
  func contain(_ column: Identifier, of table: Identifier) -> Bool {
    self[table]?.contains { $0.columns.contains(column) } ?? false
  }
}

extension [DeviceTable.Reference] {
  /// Whether the row refers to a missing row. A join then finds no partner.
  ///
  /// - Parameter keys: the keys of the parents, for each reference; nil if they are unknown.
  func lack(keys: [[[Value]]?], of row: Insertion) -> Bool {
    zip(self, keys).contains { reference, keys in
      let key = reference.columns.map { row[$0] ?? .null }
      guard let keys, !reference.isOptional, !key.contains(.null) else { return false }
      return !keys.contains(key)
    }
  }
}
