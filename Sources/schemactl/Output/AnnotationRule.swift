import SchemaCopies
import SchemaSQLText

/// The description of an annotation's rule if it is not a lint rule.
struct AnnotationRule {
  let id: String
  /// One sentence.
  let summary: String
  let advice: String

  static func named(_ id: String) -> AnnotationRule? { all.first { $0.id == id } }

  static let all: [AnnotationRule] = [
    AnnotationRule(
      id: "history/edited", summary: "A frozen migration was edited.",
      advice: """
        Devices that have run it will not run it again, so only new installs see the edit. Restore the \
        file from git and put the change into a new migration. If no device has run it, \
        `schemactl freeze --accept ID --reason TEXT` records the edit.
        """),
    AnnotationRule(
      id: "history/removed", summary: "The file of a frozen migration is missing.",
      advice: "Restore it from git. New installs must run it, too."),
    AnnotationRule(
      id: "history/renamed", summary: "A frozen migration was renamed.",
      advice: "Databases know it by its old name. Give the file its old name."),
    AnnotationRule(
      id: "history/reordered", summary: "A frozen migration has another place in the order.",
      advice: "Databases have run it in the old order. Give the file its old number."),
    AnnotationRule(
      id: "history/inserted", summary: "A new migration comes before a frozen one.",
      advice: "Databases that have run the frozen one would never run it. Run `schemactl "
        + "renumber ID`."),
    AnnotationRule(
      id: "history/engine-differs",
      summary: "This SQLite version gives a frozen migration another schema than the version that "
        + "froze it.",
      advice: """
        The manifests are unchanged. `schemactl verify --database FILE` reports whether a database \
        really differs.
        """),
    AnnotationRule(
      id: "history/lock",
      summary: "history.lock is invalid, or lacks a line of another revision.",
      advice: "Restore the line from git. `schemactl freeze` resolves conflict markers."),
    AnnotationRule(
      id: "manifest/invalid", summary: "A manifest is invalid.",
      advice: "Correct it at the reported place. `schemactl check` reports every problem."),
    AnnotationRule(
      id: "configuration/invalid", summary: "The configuration is invalid.",
      advice: "Correct schemactl.yaml at the reported place."),
    AnnotationRule(
      id: "replay/failed",
      summary: "The history cannot be replayed from its beginning, or from a release.",
      advice:
        "Correct the migration, or restore it if it is frozen. A new install would stop there."),
    AnnotationRule(
      id: "replay/differs",
      summary: "The final schema depends on the release that a device starts from.",
      advice: """
        A migration uses a value of the connection that ran an earlier one, such as \
        `last_insert_rowid()` or `changes()`. Make the migration independent of it.
        """),
    AnnotationRule(
      id: "schema/stale", summary: "The schema file is not the schema of the latest migration.",
      advice: "Run `schemactl inspect --write` and commit the file."),
    AnnotationRule(
      id: "ledger/unknown",
      summary: "A database has run a migration that the history does not have.",
      advice: "Its app is newer than this history. Use the history that belongs to it."),
    AnnotationRule(
      id: "ledger/missing",
      summary: "A database has skipped a frozen migration and run a later one.",
      advice: "See `schemactl status --database FILE`."),
    AnnotationRule(
      id: "ledger/edited", summary: "A database has run another form of a frozen migration.",
      advice: "See `schemactl status --database FILE`."),
    AnnotationRule(
      id: "ledger/altered", summary: "A row of the ledger contradicts itself or history.lock.",
      advice: "See `schemactl status --database FILE`."),
    AnnotationRule(
      id: "ledger/out-of-order",
      summary: "A database has skipped a draft and run a later migration.",
      advice: "Run `schemactl renumber ID` to put the draft last."),
    AnnotationRule(
      id: "ledger/draft-edited", summary: "A draft was edited after a database ran it.",
      advice:
        "`schemactl migrate --reset-drafts` returns to the state before the first draft. Rows "
        + "written since then remain only in the `.before-reset` copy."),
    AnnotationRule(
      id: "database/drift", summary: "The schema of a database differs from its history.",
      advice: "`schemactl diff --database FILE` shows every difference."),
    AnnotationRule(
      id: "database/not-ours", summary: "This history did not create the database.",
      advice: "Name another database, or adopt this one with `schemactl adopt`."),
  ]
}
