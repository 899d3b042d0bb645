import SchemaHistory
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension Failure {
  private static let shown = 10

  /// Names the rows that stopped a migration, and the SELECT that lists them.
  ///
  /// - Parameter source: a database where the failed step is rolled back, so that a reader finds the same rows.
  package func namingRows(on source: some RowSource, redacted: Bool) -> Failure {
    guard let query = rows, (try? query.doubt.map { try source.rows($0).isEmpty }) != false,
      let found = try? source.rows("\(query.sql) LIMIT \(Self.shown)"), !found.isEmpty,
      let count = try? source.rows("SELECT count(*) FROM (\(query.sql))").first?[0].integer
    else { return self }
    let who =
      query.isGrouped
      ? "\(counted(count, "value")) in more than one row" : counted(count, "row")
    var rows = found.map { row in
      zip(query.columns, row).map { "\($0) = \($1.shown)" }.joined(separator: ", ")
    }
    if count > found.count { rows.append("and \(grouped(count - Int64(found.count))) more") }
    return adding("found \(who)" + (redacted ? "" : ": \(rows.joined(separator: "; "))"))
      .adding("list: \(query.sql)")
  }
}
