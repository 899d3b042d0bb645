import SchemaSQLText
import SchemaTimeline

extension Rule {
  /// A history with exactly one finding of the rule.
  package var bad: Example { example(wrong) }

  /// A history with the same result and without a finding.
  package var good: Example { example(right) }

  private func example(_ text: String) -> Example {
    var example = examples
    if section == .breaksQueries {
      example.queries = text
    } else {
      let operations = text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.isEmpty ? "" : "\n  \($0)" }
      example.manifests.append(
        text.hasPrefix("- ") ? "operations:" + operations.joined() : text)
    }
    return example
  }

  /// A history whose last manifest demonstrates a rule.
  package struct Example: Sendable {
    package let profile: Profile
    /// The number of migrations in each release, if the rule needs releases.
    package let releases: [String: Int]
    /// `schemactl.yaml`, if the rule needs it.
    package let configuration: String
    /// `queries/reminders.sql`, if the rule needs it.
    package fileprivate(set) var queries: String?
    /// The texts of the manifests, in order.
    package fileprivate(set) var manifests: [String]

    /// - Parameter manifests: the manifests before the last one.
    init(
      _ profile: Profile = .local, releases: [String: Int] = [:], configuration: String = "",
      after manifests: [String] = [remindersManifest]
    ) {
      self.profile = profile
      self.releases = releases
      self.configuration = configuration
      self.manifests = manifests
    }

    /// The files of the example; the last manifest comes last.
    package var text: String {
      let others = [
        configuration.isEmpty ? nil : "# schemactl.yaml\n\(configuration)",
        queries.map { "# queries/reminders.sql\n\($0)" },
      ].compactMap { $0 }
      return (others + manifests.suffix(1)).joined(separator: "\n")
    }
  }
}

// Manifests that several rules use as examples.

/// A table without findings under any profile.
let remindersManifest = """
  operations:
    - create_table:
        name: reminders
        columns:
          - name: id
            type: TEXT
            primary_key: true
            not_null: { on_conflict: replace }
            default: { sql: uuid() }
          - { name: title, type: TEXT }
          - name: isCompleted
            type: INTEGER
            not_null: { on_conflict: replace }
            default: 0
        strict: true
  """

func moveManifest(keepsSource: Bool) -> String {
  """
  operations:
    - move_column:
        table: reminders
        from: isCompleted
        to:
          name: status
          type: INTEGER
          not_null: { on_conflict: replace }
          default: 0
        map: { 0: 0, 1: 1 }
  """ + (keepsSource ? "\n      keep_source: true" : "")
}

/// A table with a key that every profile accepts, and further columns.
func tableManifest(_ name: String, columns: String...) -> String {
  """
  operations:
    - create_table:
        name: \(name)
        columns:
          - name: id
            type: TEXT
            primary_key: true
            not_null: { on_conflict: replace }
            default: { sql: uuid() }
  """ + columns.map { "\n        - \($0)" }.joined() + "\n      strict: true"
}

/// A hand-written rebuild with a condition on its copy.
func rebuiltReminders(copy condition: String) -> String {
  """
  operations:
    - sql: |
        CREATE TABLE reminders_new (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          title TEXT,
          isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
        ) STRICT;
        INSERT INTO reminders_new (id, title, isCompleted)
        SELECT id, title, isCompleted FROM reminders\(condition);
        DROP TABLE reminders;
        ALTER TABLE reminders_new RENAME TO reminders;
  """
}

/// A table with a CHECK.
let checkedManifest = """
  operations:
    - sql: |
        CREATE TABLE tasks (
          id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()),
          status INTEGER CHECK (status IN (0, 1, 2))
        ) STRICT;
  """

/// Reminders that refer to lists, with the index for their foreign key.
let referringManifest = """
  operations:
    - sql: |
        CREATE TABLE lists (
          id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid())
        ) STRICT;
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT,
          listID TEXT REFERENCES lists (id) ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX reminders_listID ON reminders (listID);
  """

/// A trigger with a guard against rows that the sync engine stores.
let trimManifest = """
  operations:
    - create_trigger:
        name: notes_trim
        sql: |
          CREATE TRIGGER notes_trim AFTER INSERT ON notes
          WHEN NOT sqlitedata_icloud_syncEngineIsSynchronizingChanges() BEGIN
            UPDATE notes SET text = trim(NEW.text) WHERE id = NEW.id;
          END
  """
