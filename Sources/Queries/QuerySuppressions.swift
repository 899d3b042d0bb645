import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// A comment of a query file that suppresses a finding in the next statement, or in the statement
/// that ends on its line: `-- schemactl: allow query-broken: The app makes that table when it
/// starts.`
struct QuerySuppression {
  let suppression: Suppression
  /// The byte offset of the line feed before the comment's line; 0 in the first line.
  let lineStart: Int

  /// The suppressions of a file.
  ///
  /// - Throws: a failure (65) at a comment for schemactl that is not a suppression.
  static func all(
    in sql: TokenizedSQL, _ file: String, _ source: SQLSource
  ) throws(Failure) -> [QuerySuppression] {
    var suppressions: [QuerySuppression] = []
    for comment in sql.tokens where comment.kind == .comment {
      var text = sql.text(comment).dropFirst(2)
      if text.hasSuffix("*/") { text = text.dropLast(2) }
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.first == "schemactl:" else { continue }
      let position = source.position(ofByte: comment.range.lowerBound)
      func invalid(_ problem: String) -> Failure {
        Failure(.invalidInput, problem, place: Failure.Place(file: file, position: position))
      }
      guard words.count > 2, words[1] == "allow" else {
        throw invalid("a comment for schemactl has the form `-- schemactl: allow RULE: reason`")
      }
      let rule = words[2].last == ":" ? words[2].dropLast() : words[2]
      let suppression = Suppression(
        rule: String(rule), reason: words.dropFirst(3).joined(separator: " "), until: nil,
        position: position)
      guard !suppression.reason.isEmpty else { throw invalid("it needs a reason") }
      let before = sql.bytes[..<comment.range.lowerBound]
      let lineStart = before.lastIndex(of: UInt8(ascii: "\n")) ?? 0
      suppressions.append(QuerySuppression(suppression: suppression, lineStart: lineStart))
    }
    return suppressions
  }
}
