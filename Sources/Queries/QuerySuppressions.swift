import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// A comment of a query file that suppresses a finding in the next statement, or in the statement
/// that ends on its line: `-- schemactl: allow query-broken until 2027-01-31: The app makes that
/// table when it starts.` The date is optional.
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
      text = text.drop(while: \.isWhitespace)
      guard text.hasPrefix("schemactl:") else { continue }
      let position = source.position(ofByte: comment.range.lowerBound)
      func invalid(_ problem: String) -> Failure {
        Failure(.invalidInput, problem, place: Failure.Place(file: file, position: position))
      }
      var words = text.dropFirst("schemactl:".count).split(whereSeparator: \.isWhitespace)[...]
      guard words.popFirst() == "allow", let rule = words.popFirst() else {
        throw invalid("a comment for schemactl has the form `-- schemactl: allow RULE: reason`")
      }
      let form = "`-- schemactl: allow RULE until 2027-01-31: reason`"
      var until: String?
      if !rule.hasSuffix(":"), words.first == "until" {
        let day = withoutColon(words.dropFirst().first ?? "")
        guard isCalendarDate(day) else {
          throw invalid("`until` needs a date, not `\(day)`: write \(form)")
        }
        until = day
        words = words.dropFirst(2)
      }
      if let day = words.indices.dropFirst().first(where: {
        words[$0 - 1] == "until" && isCalendarDate(String(words[$0].prefix(10)))
      }) {
        throw invalid(
          "`until \(words[day])` in the reason does not limit the suppression: write \(form)")
      }
      let suppression = Suppression(
        rule: withoutColon(rule), reason: words.joined(separator: " "), until: until,
        position: position)
      guard !suppression.reason.isEmpty else { throw invalid("the suppression needs a reason") }
      let before = sql.bytes[..<comment.range.lowerBound]
      let lineStart = before.lastIndex(of: UInt8(ascii: "\n")) ?? 0
      suppressions.append(QuerySuppression(suppression: suppression, lineStart: lineStart))
    }
    return suppressions
  }
}

private func withoutColon(_ word: Substring) -> String {
  String(word.hasSuffix(":") ? word.dropLast() : word)
}
