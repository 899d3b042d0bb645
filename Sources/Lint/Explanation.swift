import SchemaSQLText
import SchemaTimeline

/// The output of `lint --explain` for a rule: plain text of at most 80 columns, except for the
/// examples. Nil for an unknown rule.
package func explanation(of id: String) -> String? {
  Rule.named(id).map { rule in
    """
    \(rule.id)

    Severity: \(filled(rule.severityText, columns: 80, after: 10))

    \(filled(rule.why, columns: 80))

    What to do: \(filled(rule.fix, columns: 80, after: 12))

    Wrong (profile \(rule.bad.profile.rawValue)):

    \(indented(rule.bad.text))

    Right:

    \(indented(rule.good.text))

    """
  }
}

/// A rule with a similar id; nil if none is similar.
package func ruleSuggestion(for id: String) -> String? {
  suggestion(for: id, among: Rule.all.map(\.id))
}

extension Rule {
  fileprivate var severityText: String {
    let all = Profile.allCases.map { (severity: severities[$0].rawValue, profile: $0.rawValue) }
    guard Set(all.map(\.severity.exact)).count > 1 else {
      return "\(all[0].severity) under every profile"
    }
    return all.map { "\($0.severity) (\($0.profile))" }.joined(separator: ", ")
  }
}

/// Fills lines of at most `columns` characters; the first one begins at column `start`.
package func filled(_ text: String, columns: Int, after start: Int = 0) -> String {
  wrapped(text, columns: columns, after: start).joined(separator: "\n")
}

private func indented(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
    .joined(separator: "\n")
}
