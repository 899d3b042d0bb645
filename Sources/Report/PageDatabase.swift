import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaSQLText

extension Page {
  var databaseSection: HTML {
    guard let database = report.database else { return "" }
    let state: HTML =
      database.current.map { "Its last migration is \(link(toMigration: $0))." }
      ?? "It has run no migration of this history."
    return """
      <section id="database"><h2>Database</h2>
      <p><code>\(database.path)</code>. \(state)</p>\(contradictions(of: database))\(list(database.problems))
      <h3>Drift</h3>\(drift(of: database))
      <h3>Pending migrations</h3>\(pending(of: database))
      <h3>Rows and sizes</h3>\(sizes(of: database))</section>

      """
  }

  private func list(_ problems: [String]) -> HTML {
    let items = problems.map { problem -> HTML in "<li>\(message: problem)</li>" }
    return items.isEmpty ? "" : "<ul class=\"problems\">\(items.joined())</ul>"
  }

  private func contradictions(of database: DatabaseFacts) -> HTML {
    guard !database.disagreements.isEmpty else { return "" }
    return """
      <p>The database and the history disagree, so <code>schemactl migrate</code> refuses it.</p>\
      \(list(database.disagreements))
      """
  }

  private func drift(of database: DatabaseFacts) -> HTML {
    guard let drift = database.drift else {
      return "<p>schemactl could not compare it with its history.</p>"
    }
    guard !drift.isEmpty else { return "<p>The schema matches its history.</p>" }
    let items = drift.map { change -> HTML in
      "<li>\(message: change.sentence) <small>\(link(toObject: change.holder))</small></li>"
    }
    return "<ul class=\"drift\">\(items.joined())</ul>"
  }

  private func pending(of database: DatabaseFacts) -> HTML {
    let planned = Set(database.pending.map(\.migration.id.exact))
    let unplanned = database.pendingIDs.filter { !planned.contains($0) }
    guard database.disagreements.isEmpty else {
      return "<p>None can run before the database and the history agree.</p>"
    }
    guard !database.pending.isEmpty || !unplanned.isEmpty else {
      return "<p>Nothing is pending.</p>"
    }
    let items = database.pending.map { migration -> HTML in
      let operations = migration.operations.map { operation -> HTML in
        "<li><code>\(operation.plan.operation.name)</code>: \(operation.costInWords)</li>"
      }
      return "<li>\(link(toMigration: migration.migration.id))<ol>\(operations.joined())</ol></li>"
    }
    let rest = unplanned.map { id -> HTML in
      "<li>\(link(toMigration: id)): its cost is not known</li>"
    }
    return "<ul class=\"pending\">\(items.joined())\(rest.joined())</ul>"
  }

  private func sizes(of database: DatabaseFacts) -> HTML {
    let note: HTML =
      database.hasSizes
      ? "" : "<p>This SQLite has no <code>dbstat</code>, so sizes are not known.</p>"
    let tables = database.tables.sorted { a, b in
      let (left, right) = (a.bytes ?? a.rows ?? 0, b.bytes ?? b.rows ?? 0)
      return left == right ? a.name.identifier < b.name.identifier : left > right
    }
    let rows = tables.map { table -> HTML in
      let indexes = table.indexes.map { index -> HTML in
        """
        <tr class="sub"><th scope="row">index <code>\(index.name)</code></th><td></td>\
        <td>\(size(index.bytes))</td></tr>

        """
      }
      return """
        <tr><th scope="row">\(link(toTable: table.name))</th><td>\(table.rows.map { grouped($0) } ?? "")</td>\
        <td>\(size(table.bytes))</td></tr>
        \(indexes.joined())
        """
    }
    return """
      \(note)<div class="scroll"><table class="numbers"><thead><tr><th scope="col">Table or index</th>\
      <th scope="col">Rows</th><th scope="col">On disk</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>
      """
  }

  private func size(_ bytes: Int64?) -> String { bytes.map { FreeSpace.size(Double($0)) } ?? "" }
}
