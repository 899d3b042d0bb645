import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// A tool whose history can be imported.
package enum ImportTool: String, Sendable, CaseIterable {
  case alembic, atlas, dbmate, diesel, django, drizzle, flyway
  case golangMigrate = "golang-migrate"
  case goose, grdb, plain, prisma, rails, sqlx

  /// Reads the tool's files.
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

  /// The first of these that recognises a folder is its tool. Layouts and marks come before names of files.
  private static let order: [ImportTool] = [
    .drizzle, .prisma, .diesel, .dbmate, .goose, .alembic, .rails, .django, .flyway, .atlas, .sqlx,
    .golangMigrate,
  ]

  /// The tool that wrote the files.
  ///
  /// - Parameter ledger: the kind of the ledger in a database that the tool has migrated.
  static func recognised(_ source: SourceFiles, ledger: LedgerKind?) throws(Failure) -> ImportTool {
    if let tool = ledger.flatMap({ ImportTool(rawValue: $0.rawValue) }), tool != .grdb {
      // Rails and dbmate share a table.
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

/// The files of one tool.
protocol ForeignFormat {
  /// Whether a folder is certainly the tool's.
  static func recognises(_ source: SourceFiles) throws(Failure) -> Bool
  /// Adds the migrations in the order in which the tool runs them.
  static func read(_ reader: inout ForeignHistory) throws(Failure)
}

extension ForeignHistory {
  /// Reads the history of another tool.
  ///
  /// - Parameters:
  ///   - tool: nil recognises it.
  ///   - ledger: the kind of the ledger in a database that the tool has migrated.
  /// - Throws: `InvalidInput` with every problem of the files, or a `Failure`.
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
        "\(source.name) contains no "
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
  /// An entry of a tool's own ledger.
  init(_ ledger: String, _ kind: LedgerKind, _ entries: String...) {
    self.init(ledger: ledger, kind: kind, column: nil, entries: entries)
  }
}
