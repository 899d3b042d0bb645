import Foundation
import SchemaLint
import SchemaManifest
import SchemaQueries
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import SchemaYAML
import Testing

/// A style of writing the same manifest.
struct ManifestStyle: Sendable, CustomTestStringConvertible {
  enum Scalar: String, CaseIterable, Sendable {
    case literal, stripped, folded, plain, single, double
  }

  let scalar: Scalar
  let isFlow: Bool
  /// The indentation of the entries of `operations`.
  let indentation: Int
  let lineEnd: String
  let hasMark: Bool

  static let all: [ManifestStyle] = Scalar.allCases.flatMap { scalar in
    [true, false].flatMap { isFlow in
      [0, 2, 4].flatMap { indentation in
        [("\n", false), ("\r\n", true)].map {
          ManifestStyle(
            scalar: scalar, isFlow: isFlow, indentation: indentation, lineEnd: $0.0, hasMark: $0.1)
        }
      }
    }
  }

  var testDescription: String {
    "\(scalar) \(isFlow ? "flow" : "block") \(indentation) \(lineEnd.count == 1 ? "LF" : "CRLF")"
  }

  private static let statements = [
    "CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), "
      + "über INTEGER, reminderID TEXT REFERENCES reminders (id) ON DELETE CASCADE) STRICT;",
    "SELECT 1",
  ]

  private func sql(_ space: String) -> String {
    let lines = Self.statements.map { space + "    " + $0 }.joined(separator: "\n")
    let words = Self.statements.joined(separator: "\n\(space)    ")
    return switch scalar {
    case .literal: "|\n\(lines)"
    case .stripped: "|-\n\(lines)\n"
    case .folded: ">\n\(lines)"
    case .plain: "\(words)  # after"
    case .single: "'\(words)'  # after"
    case .double: "\"\(words)\"  # after"
    }
  }

  /// Contains every kind of finding with a fix.
  var text: String {
    let space = String(repeating: " ", count: indentation)
    let suppression = "{ rule: drop-object, reason: Nobody reads it. }"
    let add =
      isFlow
      ? "add_column: { table: reminders, column: { name: flag, type: INTEGER, not_null: true, default: 0 } }"
      : """
      add_column: # first
      \(space)    table: reminders
      \(space)    column:
      \(space)      name: flag   # the name
      \(space)      not_null: true # kept
      \(space)      default: 0
      \(space)      type: INTEGER
      """
    let move =
      isFlow
      ? "move_column: { table: reminders, from: isCompleted, to: { name: status, type: INTEGER, "
        + "not_null: true, default: 0, check: 'status IN (0, 1)' }, map: { 0: 0, 1: 1 } }  # moved"
      : """
      move_column:
      \(space)    table: reminders
      \(space)    to:
      \(space)      name: status
      \(space)      type: INTEGER
      \(space)      not_null: true # kept, too
      \(space)      default: 0
      \(space)      check: status IN (0, 1)
      \(space)    from: isCompleted
      \(space)    map:
      \(space)      0: 0
      \(space)      1: 1 # done
      """
    let allow =
      isFlow ? "lint: { allow: [ \(suppression) ] }" : "lint:\n  allow:\n    - \(suppression)"
    let text = """
      # The first line.
      description: Notes, "and more".
      \(allow)
      operations: # in order
      \(space)- \(add)

      \(space)# In the middle.
      \(space)- \(move)
      \(space)- sql: \(sql(space))
      # The last line.

      """
    return (hasMark ? "\u{FEFF}" : "") + text.replacing("\n", with: lineEnd)
  }
}

@Suite("Fixes in every style of YAML")
struct FixStyleTests {
  private static let reminders = Rule.named("drop-column")?.bad.manifests[0] ?? ""

  private func manifest(_ text: String) throws -> Manifest {
    try decodeManifest(Array(text.utf8), file: "")
  }

  @Test(
    "every style results in the same manifest and keeps its comments",
    arguments: oneIn(40, of: ManifestStyle.all))
  func style(_ style: ManifestStyle) throws {
    let (report, manifests) = try fixed([Self.reminders, style.text])
    #expect(report.failure == nil)
    #expect(report.findings.map(\.kind) == [])
    let expected = try manifest(
      """
      operations:
        - add_column:
            table: reminders
            column:
              { name: flag, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0, check: "status IN (0, 1)" }
            map: { 0: 0, 1: 1 }
            keep_source: true
            mirror: true
            map_back: { 0: 0, 1: 1 }
        - sql: |
            CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
              über INTEGER,
              reminderID TEXT REFERENCES reminders (id) ON DELETE CASCADE) STRICT;
            SELECT 1
        - create_index: { name: notes_reminderID, table: notes, columns: [reminderID] }
      """)
    #expect(try manifest(manifests[1]).canonicalForm == expected.canonicalForm, "\(manifests[1])")
    let comments = { (text: String) in text.matches(of: /#[^\r\n]*/).map { String($0.output) } }
    #expect(comments(manifests[1]) == comments(style.text))
    #expect(manifests[1].hasPrefix("\u{FEFF}") == style.hasMark)
    #expect(manifests[1].contains("\r\n") == (style.lineEnd == "\r\n"))
    #expect(!manifests[1].replacing("\r\n", with: "").contains("\r"))
    if style.lineEnd == "\r\n" { #expect(!manifests[1].replacing("\r\n", with: "").contains("\n")) }
    #expect(
      try fixed([Self.reminders, manifests[1]]).manifests[1]
        == manifests[1])
  }

  /// Unusual YAML with the expected result; nil if the finding remains.
  private static let oddities: [(before: String, after: String?)] = [
    (
      "operations: [ sql: CREATE TABLE a (x TEXT) STRICT ]\nlint: { allow: [ &w { rule: drop-object, reason: r }, *w ] }\n",
      nil
    ),
    (
      "operations: [ { sql: CREATE TABLE a (x TEXT) STRICT, lint: &l { allow: [ { rule: drop-object, reason: r } ] } } ]\nlint: *l\n",
      nil
    ),
    (
      "operations:\n  - lint: { allow: [ { rule: drop-object, reason: r } ] }\n    sql: CREATE TABLE a (x TEXT) STRICT\n",
      nil
    ),
    (
      "? lint\n: { allow: [ { rule: drop-object, reason: r } ] }\n? operations\n: [ sql: CREATE TABLE a (x TEXT) STRICT ]\n",
      nil
    ),
    (
      "{ operations: [ sql: CREATE TABLE a (x TEXT) STRICT ], # why\n  lint: { allow: [\n    { rule: drop-object, reason: r } # because\n  ] } }\n",
      "{ operations: [ sql: CREATE TABLE a (x TEXT) STRICT ] }\n"
    ),
  ]

  @Test(
    "an unusual style is either fixed or unchanged", arguments: oddities
  )
  func odd(before: String, after: String?) throws {
    let (report, manifests) = try fixed([before], .local)
    #expect(report.failure == nil)
    #expect(manifests == [after ?? before])
  }

  @Test("a truncated manifest is fixed as far as it can be parsed, and never gets worse")
  func cutOff() throws {
    let styles = ManifestStyle.all.filter { $0.indentation == 2 && !$0.hasMark }
    let parts = styles.flatMap { style in
      let bytes = Array(style.text.utf8)
      return stride(from: 40, to: bytes.count, by: 37).map { bytes.prefix($0) }
    }
    for part in oneIn(61, of: parts) {
      let text = String(decoding: part, as: UTF8.self)
      guard let before = try? lint([Self.reminders, text], .sqliteData), before.failure == nil
      else { continue }
      let report = try fixed([Self.reminders, text]).report
      #expect(report.failure == nil)
      #expect(report.summary.errors <= before.summary.errors)
    }
  }

  @Test(
    "under every profile, a fixed bad example replays without new errors",
    arguments: oneIn(19, of: Rule.all))
  func profiles(_ rule: Rule) throws {
    for profile in Profile.allCases {
      let before = try lint(rule.bad, profile)
      let (report, _) = try fixed(
        rule.bad.manifests, profile, releases: rule.bad.releases,
        configuration: rule.bad.configuration)
      #expect(report.failure == nil)
      let errors = { (report: LintReport) in
        report.findings.filter { $0.severity == .error && !$0.isSuppressed }.map {
          "\($0.rule) \($0.object ?? "")"
        }
      }
      #expect(Set(errors(report)).isSubset(of: errors(before)), "\(profile)")
    }
  }
}
