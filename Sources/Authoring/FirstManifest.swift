import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// The first manifest of a history that continues an existing database. It creates the schema of the
/// database.
package struct FirstManifest: Sendable {
  package static let id = "0001_baseline"

  package let text: String
  /// The ledgers of other tools whose entries the manifest replaces.
  package let ledgers: [UsualLedger]

  /// Reads a database and writes nothing.
  ///
  /// - Throws: also when the database has a ledger of schemactl with rows, or failed entries in a ledger of
  ///   another tool.
  package init(
    of database: String, _ application: Application, ignoring foreign: ForeignObjects,
    timeout: Double, interruption: Interruption
  ) throws(Failure) {
    try DatabaseFile.require(database)
    let usual = try ForeignLedgers.usual(in: database, timeout: timeout)
    if let ledger = usual.first(where: { !$0.failed.isEmpty }) {
      throw Failure(
        .finding,
        "`\(ledger.table)` in `\(database)` has entries that failed: "
          + "\(ledger.failed.map { "`\($0)`" }.joined(separator: ", ")). schemactl wrote nothing",
        remedy: "Repair the database with the tool that created them")
    }
    ledgers = usual.filter { !$0.entries.isEmpty }
    let connection = try DatabaseFile.openForReading(database, timeout: timeout)
    if let last = try LiveDatabase(connection, application.ledger, path: database).rows?.last?.id {
      throw Failure(
        .finding,
        "`\(database)` already has a ledger, up to `\(last)`: it belongs to another history. schemactl "
          + "wrote nothing")
    }
    let schema = try SchemaSource.database(database).schema(
      application, ignoring: foreign, timeout: timeout, interruption: interruption)
    let items = ledgers.map { "  - \($0.replaced.yaml)\n" }
    text =
      manifestText(description: "The schema of the existing database.", schema.operations)
      + (items.isEmpty ? "" : "replaces:\n" + items.joined())
  }
}
