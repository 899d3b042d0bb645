import History
import ManifestFormat
import Testing

private let frozen = """
  description: Reminders.
  operations:
    - create_table:
        name: reminders
        columns:
          - { name: id, type: INTEGER, primary_key: true }
          - { name: priority, type: INTEGER, default: 0 }
          - { name: title, type: TEXT }
    - update: { table: reminders, set: { priority: "1" }, where: title IS NULL }
    - sql: |
        DELETE FROM reminders WHERE priority >= 5 AND title NOT IN (SELECT title FROM kept);
        DELETE FROM kept
    - insert: { table: reminders, rows: [{ id: 1, title: a }, { id: 2, title: b }] }
  """

/// `changed 1 create_table (3:7): columns.priority.default 0 → 1`
private func changes(_ old: String, _ new: String) throws -> [String] {
  func manifest(_ text: String) throws -> Manifest {
    try decodeManifest(Array(text.utf8), file: "a")
  }
  return compareManifests(try manifest(old), try manifest(new)).map { change in
    let number = [change.oldNumber, change.newNumber].map { $0.map(String.init) ?? "-" }
    let place = change.position.map { " line \($0.line)" } ?? ""
    let keys = change.keys.map { "\($0.path): \($0.old ?? "nothing") → \($0.new ?? "nothing")" }
    return "\(change.kind.rawValue) \(number.joined(separator: ">")) \(change.name)"
      + "\(change.object.map { " \($0)" } ?? "")\(place) | " + keys.joined(separator: " | ")
  }
}

@Suite("Edits of manifests")
struct ManifestEditTests {
  @Test(
    "an edit is named by its operation and its key, with the old value and the new",
    arguments: [
      (
        "default: 0", "default: 1",
        "changed 1>1 create_table reminders line 3 | columns.priority.default: 0 → 1"
      ),
      (
        "default: 0", "default: \"0\"",
        "changed 1>1 create_table reminders line 3 | columns.priority.default: 0 → \"0\""
      ),
      (
        "type: TEXT", "type: BLOB",
        "changed 1>1 create_table reminders line 3 | columns.title.type: TEXT → BLOB"
      ),
      (
        ", default: 0", "",
        "changed 1>1 create_table reminders line 3 | columns.priority.default: 0 → nothing"
      ),
      (
        "type: TEXT", "type: TEXT, not_null: true",
        "changed 1>1 create_table reminders line 3 | columns.title.not_null: nothing → true"
      ),
      (
        "where: title IS NULL", "where: title IS NOT NULL",
        "changed 2>2 update reminders line 9 | where: title IS NULL → title IS NOT NULL"
      ),
      (
        ">= 5", ">= 6",
        "changed 3>3 sql line 10 | sql: DELETE FROM reminders WHERE priority >= 5 AND title NOT IN … → "
          + "DELETE FROM reminders WHERE priority >= 6 AND title NOT IN …"
      ),
      (
        "DELETE FROM kept", "DELETE FROM kept; DROP TABLE x",
        "changed 3>3 sql line 10 | sql: … ; DELETE FROM kept → … ; DELETE FROM kept; DROP TABLE x"
      ),
      (
        "title: b", "title: c", "changed 4>4 insert reminders line 13 | rows[2].title: b → c"
      ),
    ])
  func edit(old: String, new: String, expected: String) throws {
    #expect(frozen.contains(old))
    #expect(try changes(frozen, frozen.replacing(old, with: new, maxReplacements: 1)) == [expected])
  }

  @Test("an operation that is new, gone or in another place is named, and the others are not")
  func operations() throws {
    let a = "operations:\n- sql: A\n- sql: B\n- drop_table: { table: t }\n- sql: C\n"
    #expect(
      try changes(a, a.replacing("- sql: B\n", with: "- sql: B\n- drop_view: { name: v }\n"))
        == ["added ->3 drop_view v line 4 | name: nothing → v"])
    #expect(
      try changes(a, a.replacing("- drop_table: { table: t }\n", with: ""))
        == ["removed 3>- drop_table t | table: t → nothing"])
    #expect(
      try changes(a, "operations:\n- sql: B\n- drop_table: { table: t }\n- sql: C\n- sql: A\n")
        == ["moved 1>4 sql line 5 | "])
  }

  @Test("columns in another order, and what stands beside the operations, are named too")
  func others() throws {
    let columns = "operations:\n- create_table: { name: t, columns: [{ name: a }, { name: b }] }\n"
    let swapped = "operations:\n- create_table: { name: t, columns: [{ name: b }, { name: a }] }\n"
    #expect(
      try changes(columns, swapped)
        == ["changed 1>1 create_table t line 2 | the order of columns: a, b → b, a"])
    #expect(
      try changes("operations: []\n", "operations: []\nforeign_keys: enforced\n")
        == ["added ->- foreign_keys | foreign_keys: nothing → enforced"])
  }

  @Test("what the canonical form leaves out is no change")
  func cosmetic() throws {
    #expect(try changes(frozen, frozen.replacing("Reminders.", with: "Else. # why")) == [])
    #expect(try changes(frozen, frozen.replacing("\n", with: "\r\n")) == [])
  }
}
