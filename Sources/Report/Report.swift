/// The report on a history and, optionally, on a database, as one HTML page that needs no network.
///
/// - ``Chronicle`` is a replayed history with the lifetime of each table, column, key, index and trigger.
/// - ``DatabaseFacts`` contains drift, row counts, sizes and pending migrations of a database.
/// - ``Report`` collects the contents of the page, and ``Report/page`` writes it.

import SchemaDiagram
import SchemaHistory
import SchemaLint
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaReplay
import SchemaSQLite

package struct Report: Sendable {
  /// The name of the project, for the title.
  package let name: String
  package let chronicle: Chronicle
  package let lint: LintReport
  /// The facts about a database; nil without a database.
  package var database: DatabaseFacts?
  /// Reasons why parts of the report are missing.
  package var problems: [String] = []
  /// The time of the report in UTC.
  package let date: String
  /// The latest schema, with its differences from the latest release.
  let diagram: Diagram
  /// The layout of the diagram; nil without Graphviz.
  private(set) var svg: String?
  let uses: Uses

  /// The greatest number of tables whose columns a diagram shows in full. Larger diagrams show only keys and
  /// changes.
  private static let largestFullDiagram = 30

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - chronicle: the replay of the history that lint used.
  ///   - name: the name of the project.
  ///   - drawsWithGraphviz: whether to use Graphviz if it is installed.
  package init(
    of chronicle: Chronicle, _ lint: LintReport, _ application: Application, name: String,
    date: String, drawsWithGraphviz: Bool = true
  ) throws(Failure) {
    self.name = name
    self.chronicle = chronicle
    self.lint = lint
    self.date = date
    do {
      let outline = try chronicle.schema.outline(application)
      if let released = chronicle.releasedSchema {
        diagram = Diagram(
          outline, since: try released.outline(application),
          compareSchemas(expected: released, actual: chronicle.schema))
      } else {
        diagram = Diagram(outline)
      }
      uses = try Uses(of: chronicle.schema, application)
    } catch {
      throw Failure(of: error)
    }
    if drawsWithGraphviz, !diagram.tables.isEmpty { layOut() }
  }

  private mutating func layOut() {
    let dot = diagram.dot(
      showsAllColumns: diagram.tables.count <= Self.largestFullDiagram,
      linking: { diagram.missing.contains($0.identifier) ? nil : "#t-" + $0.anchor })
    do throws(Subprocess.Problem) {
      svg = try Graphviz.svg(of: dot)
    } catch {
      switch error {
      case .notInstalled: svg = nil
      case .failed(let reason): problems.append("Graphviz cannot lay out the diagram: \(reason)")
      }
    }
  }
}
