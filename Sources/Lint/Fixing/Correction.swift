import SchemaManifest
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// A safe change of a draft's manifest that preserves its author's intention.
package enum Correction: Sendable, Hashable {
  /// Removes the suppression at this position.
  case removeSuppression(Position)
  /// Removes a statement of an operation's SQL.
  case removeStatement(StatementPlace)
  /// Removes IF NOT EXISTS; the range is in bytes from the statement's first word.
  case removeIfNotExists(StatementPlace, Range<Int>)
  /// Adds ON CONFLICT REPLACE to NOT NULL of a column. The position is that of the column's
  /// definition.
  case replaceOnConflict(column: String, Position)
  /// The same in SQL, after a range in bytes from the statement's first word.
  case replaceOnConflictInSQL(column: String, StatementPlace, Range<Int>)
  /// Keeps the source column of a `move_column` and synchronises both columns.
  case keepSource(operation: Int, table: String, from: String, to: String)
  /// Appends an operation.
  case append(operation: String)

  /// Describes the change in the past tense.
  var sentence: String {
    switch self {
    case .removeSuppression: "removed the suppression"
    case .removeStatement: "removed the statement"
    case .removeIfNotExists: "left out IF NOT EXISTS"
    case .replaceOnConflict(let column, _), .replaceOnConflictInSQL(let column, _, _):
      "gave \(column) NOT NULL ON CONFLICT REPLACE"
    case .keepSource(_, _, let from, let to):
      "kept \(from), with triggers that keep it and \(to) in step"
    case .append(let operation): "added `\(operation.drop { "- ".contains($0) })`"
    }
  }

  /// The column for which the correction may leave an error of loses-values: the manifest does not
  /// state what each of its values means in the other column.
  var unfinishedColumn: String? {
    if case .keepSource(_, let table, _, let to) = self { "\(table).\(to)" } else { nil }
  }
}

extension Correction {
  /// The edits that make the correction; nil if the layout of the manifest does not allow them.
  ///
  /// - Parameter manifest: the decoded `text`.
  func edits(_ text: ManifestText, _ manifest: Manifest) -> [ManifestText.Edit]? {
    switch self {
    case .removeSuppression(let position): return text.removingSuppression(at: position)
    case .removeStatement(let place):
      return manifest.source(of: place).flatMap { number, source, start in
        let sql = TokenizedSQL(source.text)
        var rest = sql.significant.drop { $0.range.lowerBound < start }
        let statement = sql.popStatement(&rest)
        let range = start..<(statement.last?.range.upperBound ?? start)
        let isAlone = sql.significant.allSatisfy {
          range.contains($0.range.lowerBound) || sql.text($0) == ";"
        }
        return isAlone
          ? text.removingSQL(number, ofOperation: place.operation)
          : text.removing([range], of: source)
      }
    case .removeIfNotExists(let place, let range):
      return manifest.source(of: place).flatMap { _, source, start in
        text.removing([range.moved(by: start)], of: source)
      }
    case .replaceOnConflict(_, let position):
      return text.setting([("not_null", replacing)], ofMappingAt: position)
    case .replaceOnConflictInSQL(_, let place, let range):
      return manifest.source(of: place).flatMap { _, source, start in
        text.inserting(" ON CONFLICT REPLACE", behind: range.moved(by: start), of: source)
      }
    case .keepSource(let operation, _, _, _): return keepingSource(operation, text, manifest)
    case .append(let operation): return text.appending(operation: operation)
    }
  }

  private var replacing: String { "{ on_conflict: replace }" }

  private func keepingSource(
    _ index: Int, _ text: ManifestText, _ manifest: Manifest
  ) -> [ManifestText.Edit]? {
    guard case .moveColumn(let move) = manifest.operations[index].kind,
      case .map(let values) = move.mapping
    else { return nil }
    let keys = [
      ("keep_source", "true"), ("mirror", "true"), ("map_back", "{ \(pairs(values.inverted)) }"),
    ]
    // A column that is kept needs no rename in dependent objects.
    guard let edits = text.setting(keys, ofOperation: index, inPlaceOf: "dependents") else {
      return nil
    }
    guard move.to.notNull == .plain else { return edits }
    return text.setting([("not_null", replacing)], ofOperation: index, path: ["to"])
      .map { $0 + edits }
  }
}

extension Manifest {
  /// The text of an operation that contains a statement, its number among those of the operation,
  /// and the byte at which the statement begins.
  fileprivate func source(
    of place: StatementPlace
  ) -> (number: Int, source: SQLSource, start: Int)? {
    guard operations.indices.contains(place.operation) else { return nil }
    let sources: [SQLSource] =
      switch operations[place.operation].kind {
      case .sql(let sources): sources
      case .createView(_, let source), .createTrigger(_, let source): [source]
      default: []
      }
    return sources.enumerated().lazy.compactMap { number, source in
      TokenizedSQL(source.text).significant.map(\.range.lowerBound)
        .first { source.position(ofByte: $0) == place.position }.map { (number, source, $0) }
    }.first
  }
}

extension Range<Int> {
  func moved(by bytes: Int) -> Range {
    lowerBound + bytes..<upperBound + bytes
  }
}
