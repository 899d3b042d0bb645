import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Runner {
  /// How often the progress of a copy is reported, in milliseconds.
  private static let reportInterval = Int64(100)

  /// Copies rows, reports how many SQLite has read so far, and checks the pages of the new table before it
  /// takes the place of the old one.
  ///
  /// - Parameter count: of the rows; nil where it is not known.
  func run(
    _ copy: RowCopy, of count: Int64?, _ context: Context, record: inout Record
  ) throws(Failure) {
    guard target == .database else { return try write(copy, context, record: &record) }
    var reported = Stopwatch()
    if let onCopy, let count {
      connection.onScan { rows in
        guard reported.milliseconds >= Self.reportInterval else { return }
        reported = Stopwatch()
        onCopy(copy, min(rows, count), count)
      }
    }
    do {
      defer { connection.onScan(nil) }
      try write(copy, context, record: &record)
    }
    try requireSound(copy.target, context)
  }

  /// SQLite names the new table in the message of a constraint.
  private func write(
    _ copy: RowCopy, _ context: Context, record: inout Record
  ) throws(Failure) {
    do {
      try runOne(copy.statement, nil, context, record: &record)
    } catch {
      throw error.cause?.code == .constraint
        ? error.adding("`\(copy.target)` is `\(copy.table)` in its new form") : error
    }
  }
}
