import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText

/// The part of a file that applies a migration, without the statements that schemactl replaces by its own
/// checks or cannot run.
struct UpPart {
  let file: ForeignFile
  let range: Range<Int>
  private(set) var notes: [ForeignNote] = []
  private(set) var problems: [Diagnostic] = []
  private var removed: [Range<Int>] = []
  private var refused: [Range<Int>] = []
  /// The offsets at which the text needs a semicolon.
  private var ends: [Int] = []
  private var isInTransaction = false
  /// The offset of the last BEGIN.
  private var open: Int?
  /// Whether the file ends the transaction that the tool has begun. If the file then begins another one, the
  /// tool commits it.
  private var endsToolsTransaction = false

  /// The index of the note for the PRAGMA that has turned foreign keys on.
  private var foreignKeysOn: Int?

  private let tool: ImportTool
  /// The tables in which the tool records its migrations.
  private let ledger: Set<Identifier>
  /// The shadow tables of the virtual tables that this part creates.
  private var shadowTables: Set<Identifier> = []

  init(_ file: ForeignFile, _ range: Range<Int>, of tool: ImportTool) {
    self.file = file
    self.range = range
    self.tool = tool
    ledger = tool.ownTables
    for statement in file.statements(in: range) { inspect(statement) }
    guard isInTransaction, !endsToolsTransaction, let open else { return }
    problems.append(
      Diagnostic(
        file: file.path, position: file.position(open),
        message:
          "BEGIN has no COMMIT: the `sqlite3` shell undoes the later statements when the file "
          + "ends. Add COMMIT, or remove BEGIN"))
  }

  /// Removes a marker of the tool.
  mutating func remove(_ mark: Range<Int>) { removed.append(mark) }

  /// Removes a marker that ends a statement for the tool, and adds the semicolon if it is missing.
  mutating func remove(separator mark: Range<Int>) {
    removed.append(mark)
    let last = file.sql.significant(in: range.lowerBound..<mark.lowerBound).last
    if let last, file.sql.text(last) != ";" { ends.append(mark.lowerBound) }
  }

  // MARK: Statements

  private mutating func inspect(_ statement: ForeignStatement) {
    let names = file.names(statement)
    guard let first = names.first else { return }
    if statement.words[0].kind == .illegal, file.sql.bytes[statement.range.lowerBound] == 0x2E {
      return inspect(shellCommand: statement)
    }
    if !ledger.isEmpty, writesLedger(statement, names) {
      return leaveOut(
        statement, "skipped a statement that changes the ledger of \(tool.rawValue)",
        isRefused: true)
    }
    switch first {
    case "BEGIN", "COMMIT", "END":
      // The shell reports an error for BEGIN in a transaction, or for COMMIT outside one, and continues.
      leaveOut(
        statement, "skipped `\(first.text)`: schemactl applies each migration atomically",
        isRefused: isInTransaction == (first == "BEGIN"))
      if first == "BEGIN" {
        open = statement.range.lowerBound
      } else if open == nil {
        endsToolsTransaction = true
      }
      isInTransaction = first == "BEGIN"
    case "SAVEPOINT", "RELEASE":
      leaveOut(statement, "skipped `\(first.text)`: schemactl applies each migration atomically")
    case "ROLLBACK":
      isInTransaction = isInTransaction && names.contains("TO")
      problems.append(
        Diagnostic(
          file: file.path, position: file.position(statement.range.lowerBound),
          message:
            "ROLLBACK undoes statements of the migration: remove it together with these statements")
      )
    case "VACUUM":
      leaveOut(
        statement,
        "skipped `VACUUM`: it does not change the schema, and cannot run in a transaction",
        isRefused: true)
    case "ATTACH", "DETACH":
      leaveOut(
        statement, "skipped `\(first.text)`: a migration changes one database", isRefused: true)
    case "PRAGMA": inspect(pragma: statement, names)
    case "DELETE", "UPDATE", "REPLACE", "DROP": noteForeignKeyActions()
    case "CREATE": inspect(creation: statement, names)
    default: break
    }
  }

  /// Leaves out tables that SQLite itself creates. Dumps of a schema contain them.
  private mutating func inspect(creation statement: ForeignStatement, _ names: [Identifier]) {
    if names.prefix(2) == ["CREATE", "VIRTUAL"] {
      let text = file.sql.text(statement.range)
      shadowTables.formUnion(shadowTableNames(ofVirtualTable: text).map(\.identifier))
    }
    guard names.prefix(3).contains("TABLE"),
      let name = names.prefix(while: { $0 != "(" })
        .first(where: { $0.isInternal || shadowTables.contains($0) })
    else { return }
    leaveOut(statement, "SQLite itself creates `\(name.text)`", isRefused: true)
  }

  /// Whether the statement changes the rows or the definition of one of the tool's tables.
  private func writesLedger(_ statement: ForeignStatement, _ names: [Identifier]) -> Bool {
    if let writing = WritingStatement(TokenizedSQL(file.sql.text(statement.range))) {
      return ledger.contains(writing.table.name.text.identifier)
    }
    guard let verb = names.first, verb == "CREATE" || verb == "DROP" else { return false }
    let kind = names.drop { !["TABLE", "INDEX", "TRIGGER", "VIEW"].contains($0) }
    let isOn = verb == "CREATE" && (kind.first == "INDEX" || kind.first == "TRIGGER")
    var words = (isOn ? kind.drop { $0 != "ON" } : kind).dropFirst()
    if words.first == "IF" { words = words.drop { $0 != "EXISTS" }.dropFirst() }
    if words.dropFirst().first == "." { words = words.dropFirst(2) }
    return words.first.map(ledger.contains) ?? false
  }

  /// Commands of the shell that do not change a database.
  private static let harmlessCommands = [
    ".bail", ".changes", ".echo", ".eqp", ".explain", ".headers", ".mode", ".nullvalue", ".print",
    ".prompt", ".separator", ".show", ".stats", ".timeout", ".timer", ".width",
  ]

  private mutating func inspect(shellCommand statement: ForeignStatement) {
    let command = file.sql.text(statement.range).trimmed
    let name = String(command.prefix { !$0.isWhitespace })
    guard Self.harmlessCommands.contains(name) else {
      let advice =
        name == ".read"
        ? "replace the line with the SQL of that file"
        : "write its effect as SQL, or remove the line"
      problems.append(
        Diagnostic(
          file: file.path, position: file.position(statement.range.lowerBound),
          message: "`\(command)` is a command of the `sqlite3` shell: \(advice)"))
      return
    }
    leaveOut(statement, "`\(command)` is a command of the `sqlite3` shell", isRefused: true)
  }

  /// Leaves out the PRAGMAs that schemactl accepts and does not run, because it checks foreign keys itself,
  /// and those that it refuses.
  private mutating func inspect(pragma statement: ForeignStatement, _ names: [Identifier]) {
    let isQualified = names.count > 2 && names[2] == "."
    let place = isQualified ? 3 : 1
    guard names.indices.contains(place) else { return }
    let argument = names.indices.contains(place + 2) ? names[place + 2].text : nil
    let name = names[place]
    if Pragmas.acceptedNotRun.contains(name) {
      let turnsOn = argument.map { ["ON", "1", "TRUE", "YES"].contains($0.identifier) } ?? false
      if name == "foreign_keys" { foreignKeysOn = turnsOn ? notes.count : nil }
      return leaveOut(
        statement, "skipped `PRAGMA \(name.text)`: schemactl checks foreign keys itself")
    }
    guard Pragmas.reasonToRefuse(name, argument: argument) != nil else { return }
    leaveOut(
      statement,
      "skipped `PRAGMA \(name.text)`: it configures the connection or the file, not the schema")
  }

  /// Extends the note for PRAGMA foreign_keys = ON, because a statement that changes rows follows it.
  private mutating func noteForeignKeyActions() {
    guard let index = foreignKeysOn else { return }
    foreignKeysOn = nil
    notes[index] = ForeignNote(
      file: notes[index].file, position: notes[index].position, kind: .statement,
      message:
        "`PRAGMA foreign_keys`: if it acts, later statements also run ON DELETE and ON UPDATE "
        + "actions. Add `foreign_keys: enforced` to the manifest if the rows need them")
  }

  /// Leaves a statement out of the manifest.
  ///
  /// - Parameter isRefused: whether the comparison with the shell leaves the statement out too.
  private mutating func leaveOut(
    _ statement: ForeignStatement, _ why: String, isRefused: Bool = false
  ) {
    removed.append(statement.range)
    if isRefused { refused.append(statement.range) }
    notes.append(
      ForeignNote(
        file: file.path, position: file.position(statement.range.lowerBound), kind: .statement,
        message: why))
  }

  // MARK: Text

  /// The SQL of the manifest, without lines that became empty.
  var sql: String { text(without: removed) }

  /// The SQL that the `sqlite3` shell would run.
  var original: String { text(without: refused) }

  /// Whether the manifest has no statement.
  var isEmpty: Bool { TokenizedSQL(sql).significant.isEmpty }

  private func text(without ranges: [Range<Int>]) -> String {
    let bytes = file.sql.bytes
    var result: [UInt8] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(file.line(of: start).upperBound, range.upperBound)
      let line = start..<end
      let parts = ranges.filter { $0.overlaps(line) }
      var kept = line.filter { byte in !parts.contains { $0.contains(byte) } }.map { bytes[$0] }
      if ends.contains(where: line.contains) { kept = [UInt8(ascii: ";")] + kept + [.lineFeed] }
      if parts.isEmpty || !kept.allSatisfy(\.isWhiteSpace) { result += kept }
      start = end
    }
    return String(decoding: result, as: UTF8.self).trimmed
  }
}

/// A note on something in the other tool's files that the manifests do not contain.
package struct ForeignNote: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    /// The section or file that reverts a migration.
    case down
    /// A migration in a programming language.
    case code
    /// A statement of an imported file.
    case statement
    /// A file that is not a migration.
    case file
    /// A decision that the import made.
    case decision
  }

  package let file: String
  package private(set) var position: Position?
  package let kind: Kind
  package let message: String
}
