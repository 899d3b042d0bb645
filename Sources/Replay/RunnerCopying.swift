import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Runner {
  /// Copies rows, and checks the pages of the new table before it takes the place of the old one.
  ///
  /// - Parameter count: of the rows; nil where it is not known.
  func run(
    _ copy: RowCopy, of count: Int64?, _ context: Context, record: inout Record
  ) throws {
    // SQLite names the new table in the message of a constraint.
    do throws(Failure) {
      let rows = CopiedRows(table: copy.table, count: count)
      try runOne(copy.statement, nil, context, copying: rows, record: &record)
    } catch {
      throw error.cause?.code == .constraint
        ? error.adding("`\(copy.target)` is `\(copy.table)` in its new form") : error
    }
    if target == .database { try requireSound(copy.target, context) }
  }
}
