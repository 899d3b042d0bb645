import Linting
import Migrating
import Testing

@Suite("What a finding says")
struct MessageTests {
  @Test("the messages of all bad examples")
  func messages() throws {
    let text = try Rule.all.map { rule in
      let report = try lint(rule.bad)
      return report.findings.filter { !$0.waived }.map {
        "\($0.file):\($0.line):\($0.column): \($0.severity.rawValue): \($0.message) (\($0.rule))"
      }.joined(separator: "\n")
    }.joined(separator: "\n")
    #expect(text == expected)
  }

  @Test("a schema that was edited into something unreadable is no crash")
  func garbage() throws {
    let made = sql("CREATE TABLE a (id TEXT PRIMARY KEY DEFAULT (uuid()), x)")
    for garbage in ["CREATE TABLE a (", "", "nonsense", "CREATE VIEW a AS SELECT 1"] {
      let edit = sql(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = '\(garbage)' WHERE name = 'a';
        """)
      // Whether SQLite still reads such a schema, and so what becomes of it, is its own matter.
      do {
        _ = try lint([made, edit, sql("DROP TABLE a")])
      } catch let failure as Failure {
        #expect(failure.migration?.id == "0002_step")
      }
    }
  }
}

private let expected = """
  migrations/0002_step.yaml:4:7: error: dropping reminders.isCompleted: a device that still \
  runs an older version writes isCompleted, and its rows can no longer be stored (drop-column)
  migrations/0002_step.yaml:2:19: error: dropping the table reminders: a device that still \
  runs an older version writes its rows, and they can no longer be stored (drop-table)
  migrations/0002_step.yaml:2:40: error: renaming reminders.title to name: a device that still \
  runs an older version writes title, and its rows can no longer be stored (rename-column)
  migrations/0002_step.yaml:2:21: error: renaming the table reminders to tasks: a device that \
  still runs an older version writes reminders, and its rows can no longer be stored \
  (rename-table)
  migrations/0002_step.yaml:4:15: error: reminders.priority is new, NOT NULL and has no \
  default: the migration fails on every database whose reminders has rows, or has to make up a \
  value for them (add-not-null-without-default)
  migrations/0002_step.yaml:3:7: error: reminders.position is NOT NULL without ON CONFLICT \
  REPLACE: rows of a device that does not know the column arrive without a value for it and \
  are refused. Write `NOT NULL ON CONFLICT REPLACE DEFAULT 0` \
  (not-null-without-conflict-default)
  migrations/0002_step.yaml:6:7: error: the unique index reminders_title: two devices that are \
  offline may both make such a row, and when they meet one of the rows is refused for good \
  (synced-unique)
  migrations/0001_step.yaml:5:11: error: the primary key of tags counts up (AUTOINCREMENT): \
  two devices make the same keys for different rows (synced-primary-key)
  migrations/0002_step.yaml:10:11: error: the foreign key reminders (listID) to lists: ON \
  DELETE NO ACTION refuses on one device a delete that another one has made; say CASCADE, SET \
  NULL or SET DEFAULT (synced-foreign-key)
  migrations/0001_step.yaml:10:11: error: notes.modificationDate has a name that CloudKit \
  keeps for itself: the record of such a row cannot be saved (reserved-name)
  migrations/0002_step.yaml:2:39: error: a device with 0002_step creates reminders(id='one', \
  urgency=2); a 1.0 device refuses it: CHECK constraint failed: urgency < 2
  -- In one sqlite3 shell, a device with 0002_step:
  PRAGMA foreign_keys = ON;
  CREATE TABLE "reminders" (
    "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))),
    "urgency" INTEGER CHECK (urgency < 3)
  );
  INSERT INTO reminders (id, urgency) VALUES ('one', 2);
  -- In another one, a 1.0 device, to which it comes:
  PRAGMA foreign_keys = ON;
  CREATE TABLE "reminders" (
    "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))),
    "urgency" INTEGER CHECK (urgency < 2)
  );
  INSERT INTO reminders (id, urgency) VALUES ('one', 2) ON CONFLICT (id) DO UPDATE SET urgency = \
  excluded.urgency;
  -- Refused: CHECK constraint failed: urgency < 2 (two-devices)
  migrations/0002_step.yaml:4:7: error: COMMIT does not belong in a migration: each one is \
  applied whole or not at all, and `migrate` refuses the statement (transaction-control)
  migrations/0002_step.yaml:3:7: error: the trigger reminders_trim does not compile: no such column: titel (broken-object)
  migrations/0002_step.yaml:5:7: error: the waiver of drop-column gives no reason, so it does \
  not hold: whoever reads it later must be able to tell whether it still may stand \
  (waiver-without-reason)
  migrations/0002_step.yaml:4:7: error: there is no rule `drop-colum`: did you mean \
  `drop-column`? (waiver-unknown-rule)
  migrations/0002_step.yaml:7:7: warning: nothing here is a finding of drop-column: remove the \
  waiver, or it will hide the next one (waiver-unused)
  migrations/0002_step.yaml:4:7: error: the waiver of drop-column ended with 2020-01-01, so it \
  does not hold any more: mend what it allowed, or think again and give it another day \
  (waiver-expired)
  """
