import SchemaManifest
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

/// `docs/rules.md`.
package var rulesDocument: String {
  var text = """
    # The rules of lint

    Which problems does lint report? This page is generated from the rules, and each example is a test.

    The profile determines the severity of a finding. Set it with `sync.engine` in `schemactl.yaml` (`none` is
    `local`) or with `lint --profile`. `lint.rules` in `schemactl.yaml` sets the severity of a rule. A rule that
    is `off` in every profile is opt-in. For tables that do not sync, the profile `local` applies.

    Lint runs each migration on empty tables. It also runs drafts, and with `--full` frozen migrations, on a few
    generated rows for each table. The rows are the same in every run. They contain the values of CHECKs, NULL,
    and repeated values unless a constraint forbids them. Rows stay from migration to migration, as on a device.
    A table stays empty if lint finds no row for its CHECK, or if the table needs a function of the app.

    `schemactl lint --on-copy --database app.sqlite` runs the pending migrations on a private copy of a real
    database instead, prints the row counts before and after, and exits with 3 if a migration fails. `migrate`
    never runs lint.

    | rule | local | additive | sqlite-data | cr-sqlite |
    |---|---|---|---|---|

    """
  for section in Rule.Section.allCases {
    text += "| **\(section.rawValue)** | | | | |\n"
    for rule in Rule.all where rule.section == section {
      let cells = Profile.allCases.map { rule.severities[$0].rawValue }
      text += "| [\(rule.id)](#\(rule.id)) | \(cells.joined(separator: " | ")) |\n"
    }
  }
  for rule in Rule.all {
    text += """

      ## \(rule.id)

      \(filled(rule.why, columns: 100))

      **What to do.** \(filled(rule.fix, columns: 100, after: 16))

      Wrong (profile `\(rule.bad.profile.rawValue)`):

      ```yaml
      \(rule.bad.text)
      ```

      Right:

      ```yaml
      \(rule.good.text)
      ```

      """
  }
  return text
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

extension Rule.Example {
  /// The files of the example; the last manifest comes last.
  fileprivate var text: String {
    let others = [
      configuration.isEmpty ? nil : "# schemactl.yaml\n\(configuration)",
      baseline.map { "# the baseline\n# \($0)" },
      queries.map { "# queries/reminders.sql\n\($0)" },
    ].compactMap { $0 }
    return (others + manifests.suffix(1)).joined(separator: "\n")
  }
}

/// Fills lines of at most `columns` characters; the first one begins at column `start`.
private func filled(_ text: String, columns: Int, after start: Int = 0) -> String {
  var lines: [String] = [""]
  var column = start
  for word in text.split(separator: " ") {
    let isFirst = lines[lines.count - 1].isEmpty
    if !isFirst, column + 1 + word.count > columns {
      lines.append(String(word))
      column = word.count
    } else {
      lines[lines.count - 1] += (isFirst ? "" : " ") + word
      column += word.count + (isFirst ? 0 : 1)
    }
  }
  return lines.joined(separator: "\n")
}

private func indented(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
    .joined(separator: "\n")
}
