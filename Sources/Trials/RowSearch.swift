import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The outcome of a search for a row.
package enum FoundRow<Row> {
  case row(Row)
  /// No row was accepted within the limit. Contains the latest message of SQLite.
  case impossible(String)

  package var row: Row? { if case .row(let row) = self { row } else { nil } }
}

/// Searches for a row that SQLite accepts by changing one value after another.
///
/// - Parameters:
///   - columns: the columns that may be changed.
///   - limit: the maximum number of rows to try.
///   - refusal: returns SQLite's message if it refuses a row; nil if it accepts it.
package func foundRow(
  near start: Insertion, changing columns: [DeviceTable.Column], limit: Int,
  values: (DeviceTable.Column) throws(DatabaseError) -> [Value],
  refusal: (Insertion) throws(DatabaseError) -> String?
) throws(DatabaseError) -> FoundRow<Insertion> {
  guard var problem = try refusal(start) else { return .row(start) }
  var row = start
  var seen: Set = [problem.exact]
  var tries = 0
  search: while true {
    // SQLite's message names the column, or the CHECK that contains the column.
    let words = problem.words
    let named = columns.filter { words.contains($0.key) }
    for column in named + columns.filter({ !words.contains($0.key) }) {
      for value in try values(column) where row[column.key] != value {
        tries += 1
        guard tries < limit else { return .impossible(problem) }
        var next = row
        next[column.key] = value
        guard let other = try refusal(next) else { return .row(next) }
        // A new message means progress, unless the row only got a value of the wrong type.
        guard !other.isOfType, seen.insert(other) else { continue }
        row = next
        problem = other
        continue search
      }
    }
    return .impossible(problem)
  }
}

extension String {
  /// Whether SQLite reports that a value does not match its column's type.
  fileprivate var isOfType: Bool { hasPrefix("cannot store ") || self == "datatype mismatch" }
}
