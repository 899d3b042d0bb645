import SchemaManifest
import SchemaSQLText
import SchemaTimeline

/// A safe change of a draft's manifest that preserves its author's intention.
package enum Correction: Sendable, Hashable {
  /// Removes the suppression at this position.
  case removeSuppression(Position)
  /// Adds ON CONFLICT REPLACE to NOT NULL of a column, whose definition is at this position.
  case replaceOnConflict(column: String, Position)
  /// Keeps the source column of a `move_column` and synchronises both columns.
  case keepSource(operation: Int, from: String, to: String, mapBack: String)
  /// Appends an operation.
  case append(operation: String)

  /// Describes the change in the past tense.
  var sentence: String {
    switch self {
    case .removeSuppression: "removed the suppression"
    case .replaceOnConflict(let column, _): "gave `\(column)` NOT NULL ON CONFLICT REPLACE"
    case .keepSource(_, let from, let to, _):
      "kept `\(from)`, with triggers that keep it consistent with `\(to)`"
    case .append(let operation): "added `\(operation.drop { "- ".contains($0) })`"
    }
  }
}

extension Correction {
  /// The edits that make the correction; nil if the layout of the manifest does not allow them.
  ///
  /// - Parameter manifest: the decoded `text`.
  func edits(_ text: ManifestText, _ manifest: Manifest) -> [ManifestText.Edit]? {
    switch self {
    case .removeSuppression(let position): return text.removingSuppression(at: position)
    case .replaceOnConflict(_, let position):
      return text.setting([("not_null", replacing)], ofMappingAt: position)
    case .keepSource(let operation, _, _, let mapBack):
      return keepingSource(operation, mapBack, text, manifest)
    case .append(let operation): return text.appending(operation: operation)
    }
  }

  private var replacing: String { "{ on_conflict: replace }" }

  private func keepingSource(
    _ index: Int, _ mapBack: String, _ text: ManifestText, _ manifest: Manifest
  ) -> [ManifestText.Edit]? {
    guard case .moveColumn(let move) = manifest.operations[index].kind else { return nil }
    let keys = [("keep_source", "true"), ("mirror", "true"), ("map_back", mapBack)]
    // Dependent objects need no rename if the source column remains.
    guard let edits = text.setting(keys, ofOperation: index, inPlaceOf: "dependents") else {
      return nil
    }
    guard move.to.notNull == .plain else { return edits }
    return text.setting([("not_null", replacing)], ofMappingAt: move.to.position).map { $0 + edits }
  }
}
