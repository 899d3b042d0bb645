import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Looks for a row that SQLite takes, by changing one value after the other.
package struct RowSearch {
  /// Those that may be changed.
  package let columns: [DeviceTable.Column]
  /// How many rows are tried, at most.
  package let limit: Int
  package let values: (DeviceTable.Column) throws(DatabaseError) -> [Value]
  /// What SQLite says when it refuses a row; nil when it takes it.
  package let refusal: (Insertion) throws(DatabaseError) -> String?

  package init(
    columns: [DeviceTable.Column], limit: Int,
    values: @escaping (DeviceTable.Column) throws(DatabaseError) -> [Value],
    refusal: @escaping (Insertion) throws(DatabaseError) -> String?
  ) {
    self.columns = columns
    self.limit = limit
    self.values = values
    self.refusal = refusal
  }

  package enum Result {
    case row(Insertion)
    /// What SQLite said of the last try.
    case impossible(String)
  }

  package func settle(_ start: Insertion) throws(DatabaseError) -> Result {
    guard var problem = try refusal(start) else { return .row(start) }
    var row = start
    var seen: Set = [problem.exact]
    var tries = 0
    search: while true {
      // SQLite names the column, or the CHECK with the column in it.
      let words = problem.words
      let named = columns.filter { words.contains($0.key) }
      for column in named + columns.filter({ !words.contains($0.key) }) {
        for value in try values(column) where row[column.name] != value {
          tries += 1
          guard tries < limit else { return .impossible(problem) }
          var next = row
          next[column.name] = value
          guard let other = try refusal(next) else { return .row(next) }
          // Another complaint than those before: the row has come further, unless it has only got
          // a value of the wrong type.
          guard !other.isOfType, seen.insert(other) else { continue }
          row = next
          problem = other
          continue search
        }
      }
      return .impossible(problem)
    }
  }
}

extension String {
  fileprivate var words: Set<Identifier> {
    Set(
      split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { Identifier($0) })
  }

  /// Whether SQLite says of a value that it is not of its column's type.
  fileprivate var isOfType: Bool { hasPrefix("cannot store ") || self == "datatype mismatch" }
}
