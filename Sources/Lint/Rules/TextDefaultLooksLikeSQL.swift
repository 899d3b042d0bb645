import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let textDefaultLooksLikeSQL = Rule(
    id: "text-default-looks-like-sql",
    section: .hurtsLater,
    severities: Severities(.warning, .warning, .warning),
    why: """
      A default in single quotes is always a text. With DEFAULT 'uuid()' every row gets the six \
      characters of `uuid()`, and with DEFAULT 'CURRENT_TIMESTAMP' the word. An expression needs \
      parentheses instead of quotes. In a manifest, `default: { sql: … }` is always an expression.
      """,
    fix: """
      Write the expression in parentheses, as in `DEFAULT (uuid())`. If you intend the text, suppress \
      the finding.
      """,
    wrong: """
      - sql: |
          ALTER TABLE reminders
          ADD COLUMN createdAt TEXT DEFAULT 'datetime(''now'')'
      """,
    right: """
      - sql: |
          ALTER TABLE reminders
          ADD COLUMN createdAt TEXT DEFAULT '2026-11-20 12:00:00'
      """,
    check: .history { timeline, _ in
      timeline.tables.flatMap { change, after in
        after.columns.compactMap { column -> Draft? in
          let place = change.newestPlace(of: column)
          guard let text = column.defaultText, text.hasPrefix("'"),
            change.before?.column(column.name)?.defaultText != text, timeline.isWritten(place),
            readsAsExpression(Quoting.unquoted(text))
          else { return nil }
          let expression = Quoting.unquoted(text)
          return timeline.draft(
            "the default of `\(after.name).\(column.name)` is the text `\(text)`, not the value of "
              + "the expression",
            at: place, object: "\(after.name).\(column.name)", table: after.name,
            help: "write `DEFAULT (\(expression))` for the expression")
        }
      }
    })
}
