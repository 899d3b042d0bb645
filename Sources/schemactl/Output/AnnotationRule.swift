import SchemaCopies
import SchemaSQLText

/// What a rule of an annotation is for, where lint does not know it.
struct AnnotationRule {
  let id: String
  /// One sentence.
  let summary: String
  let advice: String

  static func named(_ id: String) -> AnnotationRule? { all.first { $0.id == id } }

  static let all: [AnnotationRule] = [
    AnnotationRule(
      id: "history/edited", summary: "A migration does something else than what was frozen.",
      advice: """
        Devices that have run it will never run it again, so the edit reaches new installs alone. \
        Restore the file from git and put the change into a new migration; where no device has run \
        it, `schemactl freeze --accept ID --reason TEXT` records the edit.
        """),
    AnnotationRule(
      id: "history/removed", summary: "The file of a frozen migration is gone.",
      advice: "Restore it from git. What a new install does not need it must run all the same."),
    AnnotationRule(
      id: "history/renamed", summary: "A frozen migration has another name.",
      advice: "Databases know it by its old name: give the file that name back."),
    AnnotationRule(
      id: "history/reordered", summary: "A frozen migration has another place in the order.",
      advice: "Databases have run it in the old order: give the file its number back."),
    AnnotationRule(
      id: "history/inserted", summary: "A new migration comes before one that is frozen.",
      advice: "Databases that are past it would never run it: give it a number after the last one."),
    AnnotationRule(
      id: "history/engine-differs",
      summary: "This SQLite makes another schema of a frozen migration than the one that froze it.",
      advice: """
        The manifests are as they were. `schemactl verify --database FILE` tells whether a database \
        really differs.
        """),
    AnnotationRule(
      id: "history/lock",
      summary: "The history lock is broken, or lacks a line of another revision.",
      advice: "Restore the line from git; `schemactl freeze` resolves conflict markers."),
    AnnotationRule(
      id: "manifest/invalid", summary: "A manifest cannot be read.",
      advice: "Correct it at the place that is named; `schemactl check` tells of every problem."),
    AnnotationRule(
      id: "configuration/invalid", summary: "The configuration cannot be read.",
      advice: "Correct schemactl.yaml at the place that is named."),
    AnnotationRule(
      id: "replay/failed",
      summary: "The history cannot be replayed from its beginning, or from a release.",
      advice:
        "Correct the migration; where it is frozen, restore it. A new install would stop there."),
    AnnotationRule(
      id: "replay/differs", summary: "The schema depends on the release that one starts from.",
      advice: """
        A migration asks for what only the connection knows that ran an older one, as \
        `last_insert_rowid()` and `changes()` do. Make the migration independent of it.
        """),
    AnnotationRule(
      id: "ledger/unknown",
      summary: "A database has run a migration that the history does not know.",
      advice: "Its app is newer than this history: use the history that belongs to it."),
    AnnotationRule(
      id: "ledger/missing",
      summary: "A database has not run a frozen migration, though a later one.",
      advice: "See `schemactl ledger --database FILE`."),
    AnnotationRule(
      id: "ledger/edited", summary: "A database has run another form of a frozen migration.",
      advice: "See `schemactl ledger --database FILE`."),
    AnnotationRule(
      id: "ledger/altered", summary: "A row of the ledger contradicts itself or the lock.",
      advice: "See `schemactl ledger --database FILE`."),
    AnnotationRule(
      id: "ledger/out-of-order",
      summary: "A database has not run a draft, though a later migration.",
      advice: "Give the draft a number after the last migration that the database has run."),
    AnnotationRule(
      id: "ledger/draft-edited", summary: "A database has run a draft that was edited since.",
      advice:
        "`schemactl migrate --reset-drafts` goes back to before the first draft; rows written since are "
        + "then in the `.before-reset` copy only."),
    AnnotationRule(
      id: "database/drift", summary: "A database is not what its history says.",
      advice: "`schemactl diff --database FILE` shows every difference."),
    AnnotationRule(
      id: "database/not-ours", summary: "A database was not made by this history.",
      advice: "Name another database."),
  ]
}
