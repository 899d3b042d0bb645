import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let selectStarInView = Rule(
    id: "select-star-in-view",
    section: .hurtsLater,
    severities: .optIn,
    why: """
      `*` means the columns that the table has when a query reads the view. A column that a later \
      migration adds appears in the view, in the middle if the view joins tables. Code that reads \
      columns by number then reads the wrong column.
      """,
    fix: "Name the columns.",
    examples: Example(configuration: "lint: { rules: { select-star-in-view: warning } }"),
    wrong: "- sql: CREATE VIEW done AS SELECT * FROM reminders WHERE isCompleted",
    right: "- sql: CREATE VIEW done AS SELECT id, title FROM reminders WHERE isCompleted",
    check: .history { timeline, _ in
      (timeline.end?.objects ?? []).compactMap { made in
        guard made.object.kind == .view, made.object.selectsStar else { return nil }
        return timeline.draft(
          "the view `\(made.object.name)` selects `*`: its columns change with those of its tables",
          at: made.place, keys: ["sql", "name"], object: made.object.name, table: nil)
      }
    })
}

extension SchemaObject {
  /// Whether `*` selects columns of the view. In count(*), and below EXISTS or IN, it does not.
  fileprivate var selectsStar: Bool {
    let sql = self.tokens
    guard case .createView(let view)? = try? parseCreate(sql) else { return false }
    let tokens = sql.significant(in: view.selectRange)[...]
    return sql.outer(tokens).contains { index in
      let next = tokens[(index + 1)...].first
      return sql.text(tokens[index]) == "*"
        && (next.map(sql.text) == "," || sql.isWord(next, "FROM"))
    }
  }
}
