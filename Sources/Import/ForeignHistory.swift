import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// A migration of another tool.
struct ForeignStep: Sendable {
  /// The number or timestamp: digits, or empty if the tool has none.
  var number: String
  var name: String
  /// The path of the file, relative to the folder.
  let source: String
  /// The path of the file with the folder, for messages.
  let path: String
  /// The SQL of the manifest.
  let sql: String
  /// The SQL that the `sqlite3` shell would run.
  let original: String
  /// The entries in the other tool's ledger that the manifest replaces; nil if the tool has no ledger.
  let replaces: ReplacedEntries?
}

/// The migrations of another tool, in the order in which the tool runs them.
package struct ForeignHistory: Sendable {
  package let tool: ImportTool
  let source: SourceFiles
  var steps: [ForeignStep] = []
  /// Notes on everything that is not imported.
  package internal(set) var notes: [ForeignNote] = []
  /// All errors in the files.
  private(set) var problems: [Diagnostic] = []

  init(_ tool: ImportTool, _ source: SourceFiles) {
    self.tool = tool
    self.source = source
  }

  func file(_ path: String) throws(Failure) -> ForeignFile {
    try ForeignFile(source.shown(path), bytes: source.bytes(path))
  }

  /// Reads a file whose statements all belong to one migration.
  func part(_ path: String) throws(Failure) -> UpPart {
    let file = try file(path)
    return UpPart(file, file.whole, of: tool)
  }

  /// Adds a part of a file as a migration.
  mutating func add(
    number: String, name: String, _ path: String, _ up: UpPart, _ replaces: ReplacedEntries?
  ) {
    notes += up.notes
    problems += up.problems
    if up.isEmpty {
      guard let replaces else {
        return note(
          path, kind: .decision,
          "the file runs no statement, so `import` writes no manifest for it")
      }
      note(
        path, kind: .decision,
        "the migration runs no statement. `import` writes an empty manifest, because "
          + "`\(replaces.ledger)` has its entry")
    }
    steps.append(
      ForeignStep(
        number: number, name: name, source: path, path: source.shown(path), sql: up.sql,
        original: up.original, replaces: replaces))
  }

  mutating func note(
    _ path: String, _ position: Position? = nil, kind: ForeignNote.Kind, _ message: String
  ) {
    notes.append(
      ForeignNote(file: source.shown(path), position: position, kind: kind, message: message))
  }

  mutating func problem(_ path: String, _ position: Position? = nil, _ message: String) {
    problems.append(
      Diagnostic(file: source.shown(path), position: position, message: message))
  }

  mutating func sortByNumber() {
    steps.sort { MigrationNumber(id: $0.number) < MigrationNumber(id: $1.number) }
  }

  // MARK: Files that are not SQL migrations

  private static let languages: [(ending: String, name: String)] = [
    (".go", "Go"), (".py", "Python"), (".java", "Java"), (".kt", "Kotlin"), (".rb", "Ruby"),
    (".js", "JavaScript"), (".ts", "TypeScript"), (".rs", "Rust"), (".cs", "C#"),
    (".php", "PHP"), (".swift", "Swift"), (".sh", "shell"),
  ]

  /// Whether a source file has a name like a migration: `00002_fill.go`, `V2__fill.java`.
  private func isNumbered(_ name: String) -> Bool {
    leadingNumber(name.hasPrefix("V") ? String(name.dropFirst()) : name) != nil
  }

  /// Adds a note for each comment that replaces Python code in the exported SQL of a migration. Django and
  /// the script of docs/from/alembic.md write these comments.
  mutating func noteCode(_ path: String, _ file: ForeignFile, _ range: Range<Int>) {
    for remark in file.remarks
    where range.contains(remark.range.lowerBound)
      && remark.text.contains("CANNOT BE WRITTEN AS SQL")
    {
      note(
        path, file.position(remark.range.lowerBound), kind: .code,
        "Python code: write a migration with the same effect")
    }
  }

  /// Adds notes for code in other languages, and for SQL files that are not migrations.
  mutating func noteRest() {
    let used = Set(steps.map(\.source.exact)).union(notes.map(\.file.exact))
    for path in source.paths where !used.contains(path) && !used.contains(source.shown(path)) {
      if isSQLFile(Array(fileName(path).utf8)) {
        note(path, kind: .file, "its name does not have the form of \(tool.rawValue) migrations")
      } else if let language = Self.languages.first(where: { stem(path, without: $0.ending) != nil }
      ),
        isNumbered(fileName(path))
      {
        note(
          path, Position(line: 1, column: 1), kind: .code,
          "\(language.name) code: write a migration with the same effect")
      }
    }
  }
}

extension ForeignHistory {
  /// The ids of the manifests, in order. They use the tool's numbers if these increase.
  ///
  /// - Returns: the ids, and whether they have new numbers instead of the tool's.
  var ids: (ids: [String], areRenumbered: Bool) {
    let numbers = steps.map { MigrationNumber(id: $0.number + "_") }
    let areKept =
      steps.allSatisfy { !$0.number.isEmpty }
      && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    let width = max(4, "\(steps.count)".utf8.count)
    let ids = steps.enumerated().map { index, step in
      let count = "\(index + 1)"
      let number =
        areKept
        ? step.number : String(repeating: "0", count: width - count.utf8.count) + count
      return "\(number)_\(slug(step.name))"
    }
    return (ids, !areKept)
  }

  /// Returns the name as a part of an id: characters that an id must not contain become `_`.
  private func slug(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      let character = String(scalar)
      let isAllowed = SchemaHistory.problem(ofMigrationID: "1_" + character) == nil
      let next = isAllowed ? character : "_"
      if "_-.".contains(next), result.isEmpty || result.hasSuffix("_") && next == "_" { continue }
      guard result.utf8.count + next.utf8.count <= 120 else { break }
      result += next
    }
    while result.hasSuffix("_") || result.hasSuffix(".") { result.removeLast() }
    return result.isEmpty ? "migration" : result
  }
}
