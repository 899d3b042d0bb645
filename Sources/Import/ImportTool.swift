import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// A tool whose history can be imported.
package enum ImportTool: String, Sendable, CaseIterable {
  case alembic, atlas, dbmate, diesel, django, drizzle, flyway
  case golangMigrate = "golang-migrate"
  case goose, grdb, plain, prisma, rails, sqlx

  /// The reader of the tool's files.
  var format: any ForeignFormat.Type {
    switch self {
    case .alembic: Alembic.self
    case .atlas: Atlas.self
    case .dbmate: Dbmate.self
    case .diesel: Diesel.self
    case .django: Django.self
    case .drizzle: Drizzle.self
    case .flyway: Flyway.self
    case .golangMigrate: GolangMigrate.self
    case .goose: Goose.self
    case .prisma: Prisma.self
    case .rails: Rails.self
    case .sqlx: Sqlx.self
    case .plain, .grdb: Plain.self
    }
  }

  /// The tools in the order in which they are tried. Tools with a special layout or marker come before tools
  /// that are recognised only by file names.
  private static let order: [ImportTool] = [
    .drizzle, .prisma, .diesel, .dbmate, .goose, .alembic, .rails, .django, .flyway, .atlas, .sqlx,
    .golangMigrate,
  ]

  /// Returns the tool that wrote the files.
  ///
  /// - Parameter ledger: the kind of the ledger in a database that the tool has migrated.
  static func recognised(_ source: SourceFiles, ledger: LedgerKind?) throws(Failure) -> ImportTool {
    if let tool = ledger.flatMap({ ImportTool(rawValue: $0.rawValue) }), tool != .grdb {
      // Rails and dbmate use the same ledger table.
      if tool != .dbmate { return tool }
      if try tool.format.recognises(source) { return tool }
    }
    for tool in order where try tool.format.recognises(source) { return tool }
    return .plain
  }
}

extension ImportTool {
  /// The tables in which the tool records its migrations.
  var ownTables: Set<Identifier> { LedgerKind(rawValue: rawValue)?.ownTables ?? [] }
}

/// The file format of one tool.
protocol ForeignFormat {
  /// Whether the files certainly belong to the tool.
  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool
  /// Adds the migrations to a history, in the order in which the tool runs them.
  static func read(_ reader: inout ForeignHistory) throws(Failure)
}

extension ForeignHistory {
  /// Reads the history of another tool.
  ///
  /// - Parameters:
  ///   - tool: nil to recognise the tool by its files.
  ///   - ledger: the kind of the ledger in a database that the tool has migrated.
  /// - Throws: `InvalidInput` with all errors in the files, or a `Failure`.
  package static func read(
    _ source: SourceFiles, tool: ImportTool?, ledger: LedgerKind?
  ) throws -> ForeignHistory {
    let tool = try tool ?? ImportTool.recognised(source, ledger: ledger)
    var history = ForeignHistory(tool, source)
    try tool.format.read(&history)
    history.noteRest()
    try throwIfAny(history.problems)
    guard !history.steps.isEmpty else {
      let code = history.notes.filter { $0.kind == .code }
      let found = code.isEmpty ? "" : ", and \(code.count) files of code"
      throw Failure(
        .notFound,
        "`\(source.name)` contains no "
          + "\(tool == .plain ? "" : "\(tool.rawValue) ")migrations as SQL\(found)\(advice(for: tool))"
      )
    }
    return history
  }

  private static func advice(for tool: ImportTool) -> String {
    switch tool {
    case .django: ": write the SQL of each migration with the script in `docs/from/django.md`"
    case .alembic:
      ": write the SQL with `alembic upgrade heads --sql` or the script in `docs/from/alembic.md`"
    case .plain: ": name the folder with the SQL files, and the tool with `--tool`"
    default: ""
    }
  }
}

extension ReplacedEntries {
  /// Creates an item of `replaces` with the default ledger of a tool.
  init(_ ledger: String, _ kind: LedgerKind, _ entries: String...) {
    self.init(ledger: ledger, kind: kind, column: nil, entries: entries)
  }
}
