import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A database of the other tool, compared with the imported history.
package struct ImportedPoint: Sendable {
  /// How many of the migrations the database has run.
  package let count: Int
  /// How its schema differs from the schema after them.
  package let differences: [SchemaChange]
}

extension ImportedHistory {
  /// Finds the point at which a database of the other tool is: by the tool's ledger or, where there is none, by
  /// the schema.
  ///
  /// - Throws: why the ledger does not lead to a point (1, 4).
  package func point(
    of database: String, timeout: Double, interruption: Interruption
  ) throws(Failure) -> ImportedPoint {
    let connection = try DatabaseFile.openForReading(
      database, timeout: timeout, interruption: interruption)
    let live = try project.adopting(
      LiveDatabase(connection, project.ledger, path: database), on: connection, path: database)
    let replay = try project.replay(project.migrations, interruption: interruption)
    if let failure = replay.failure { throw failure }
    var schema = Schema()
    var points: [[SchemaChange]] = []
    for step in replay.steps {
      schema = step.delta.applied(to: schema)
      let isWanted = live.adopted == 0 || points.count + 1 == live.adopted
      points.append(
        isWanted
          ? compareSchemas(
            expected: schema, actual: project.comparable(live.schema, with: schema)) : [])
    }
    if live.adopted > 0 {
      return ImportedPoint(count: live.adopted, differences: points[live.adopted - 1])
    }
    guard foreign.steps.allSatisfy({ $0.replaces == nil }) else {
      throw Failure(
        .finding,
        "\(database) has no entry of \(foreign.tool.rawValue) for the first migration: it is not a database of "
          + "this history, or another tool has made it (--tool)")
    }
    // The last of several equal points: migrations between them change rows, and are more likely to have run.
    let nearest = points.indices.reversed().min { points[$0].count < points[$1].count } ?? 0
    return ImportedPoint(count: nearest + 1, differences: points[nearest])
  }
}

/// The ledger of a database that another tool has migrated; nil if it has none, or several.
package func usualLedger(
  of database: String, timeout: Double, interruption: Interruption
) throws(Failure) -> UsualLedger? {
  let ledgers = try ForeignLedgers.usual(
    in: database, timeout: timeout, interruption: interruption)
  return ledgers.count == 1 ? ledgers.first : nil
}
