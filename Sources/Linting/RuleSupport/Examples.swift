// Manifests that several rules show.

/// A table that breaks no rule under any profile.
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

/// A table whose key every profile takes, with more columns.
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
