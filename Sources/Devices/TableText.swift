import SchemaModel
import SchemaSQLText
import SchemaTimeline
import SchemaTrials

/// The parts of a definition that determine which values a table accepts. If the text of a part is
/// equal on two devices, its values need no test.
struct TableText {
  /// The definition of each column in normal form, by folded name.
  private var columns: [Identifier: [[UInt8]]] = [:]
  /// The columns whose definition may refer to others, by a CHECK or a generated value.
  private var looking: Set<Identifier> = []
  /// Constraints of the table, options, unique and partial indexes, triggers.
  private var others: [[[UInt8]]] = []

  /// - Parameter definition: kind, name and SQL of the table and its objects, in order.
  init(_ definition: [[String]]) {
    for object in definition {
      let tokens = TokenizedSQL(object.last ?? "")
      let end = tokens.bytes.count
      guard object.first == SchemaObject.Kind.table.rawValue,
        case .createTable(let table)? = try? parseCreate(tokens), let last = table.columns.last
      else {
        others.append(tokens.normalTokens(in: 0..<end))
        continue
      }
      others.append(tokens.normalTokens(in: last.range.upperBound..<end))
      for column in table.columns {
        let key = column.name.text.identifier
        columns[key] = tokens.normalTokens(in: column.range)
        if !column.checks.isEmpty || column.generated != nil { looking.insert(key) }
      }
    }
  }

  /// The folded columns whose values the two tables may accept differently; nil for all columns.
  func differences(from other: TableText) -> Set<Identifier>? {
    guard others == other.others else { return nil }
    let all = Set(columns.keys).union(other.columns.keys)
    let changed = all.filter { columns[$0] != other.columns[$0] }
    return changed.isDisjoint(with: looking.union(other.looking)) ? changed : nil
  }
}
