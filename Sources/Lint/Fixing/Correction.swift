import SchemaManifest
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// A change of a draft's manifest that does, safely, what its author meant.
package enum Correction: Sendable, Hashable {
  /// Removes the suppression at this position.
  case removeSuppression(Position)
  /// A statement of an operation's SQL goes; the position is that of its first word.
  case removeStatement(operation: Int, Position)
  /// A statement that makes something does without IF NOT EXISTS.
  case removeIfNotExists(operation: Int, Position)
  /// NOT NULL of a column gets ON CONFLICT REPLACE. The position is that of the column's definition.
  case replaceOnConflict(column: String, Position)
  /// The same, in the statement that begins there.
  case replaceOnConflictInSQL(operation: Int, Position, column: String)
  /// A `move_column` keeps its source, and both columns stay in step.
  case keepSource(operation: Int, from: String, to: String)
  /// An operation is added behind the others.
  case append(operation: String)

  /// What was done.
  var sentence: String {
    switch self {
    case .removeSuppression: "removed the suppression"
    case .removeStatement: "removed the statement"
    case .removeIfNotExists: "left out IF NOT EXISTS"
    case .replaceOnConflict(let column, _), .replaceOnConflictInSQL(_, _, let column):
      "gave \(column) NOT NULL ON CONFLICT REPLACE"
    case .keepSource(_, let from, let to):
      "kept \(from), with triggers that keep both columns in step: name in map_back what else \(to) may "
        + "hold"
    case .append(let operation): "added `\(operation.drop { "- ".contains($0) })`"
    }
  }
}

extension Correction {
  /// Nil when the manifest is written in a way in which it cannot be made.
  ///
  /// - Parameter manifest: what `text` says.
  func edits(_ text: ManifestText, _ manifest: Manifest) -> [ManifestText.Edit]? {
    switch self {
    case .removeSuppression(let position): return text.removingSuppression(at: position)
    case .removeStatement(let operation, let position):
      guard let statement = manifest.statement(in: operation, at: position) else { return nil }
      return statement.isAlone
        ? text.removingSQL(statement.number, ofOperation: operation)
        : text.removing([statement.whole], of: statement.source)
    case .removeIfNotExists(let operation, let position):
      guard let statement = manifest.statement(in: operation, at: position),
        let words = statement.words(["IF", "NOT", "EXISTS"])
      else { return nil }
      return text.removing([words], of: statement.source)
    case .replaceOnConflict(_, let position):
      return text.setting([("not_null", replacing)], ofMappingAt: position)
    case .replaceOnConflictInSQL(let operation, let position, let column):
      guard let statement = manifest.statement(in: operation, at: position),
        let words = statement.notNull(of: column)
      else { return nil }
      return text.inserting(" ON CONFLICT REPLACE", behind: words, of: statement.source)
    case .keepSource(let operation, _, _): return keepingSource(operation, text, manifest)
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
    // A column that stays is renamed nowhere.
    guard let edits = text.setting(keys, ofOperation: index, inPlaceOf: "dependents") else {
      return nil
    }
    guard move.to.notNull == .plain else { return edits }
    return text.setting([("not_null", replacing)], ofOperation: index, path: ["to"])
      .map { $0 + edits }
  }
}
