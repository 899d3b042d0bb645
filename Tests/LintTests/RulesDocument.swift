import SchemaLint
import SchemaTimeline

/// `docs/rules.md`.
var rulesDocument: String {
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
      let cells = Profile.allCases.map { rule.severity(under: $0).rawValue }
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
