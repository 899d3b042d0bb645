import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// Brings an app's SQLite databases up to date with the migrations that it ships.
///
/// ```swift
/// let migrator = try SchemaMigrator(bundle: pathOfBundle)
/// try migrator.migrate(databaseAt: path)
/// ```
///
/// The migrator applies each migration either completely or not at all. Migrate before anything else has the
/// database open.
public struct SchemaMigrator: Sendable {
  enum History: Sendable {
    case bundle(HistoryBundle)
    case folder(Project)
  }

  let history: History
  let application: Application
  let timeout: Double

  /// Whether a bundle may contain drafts: migrations that are not released and may still change.
  public enum Drafts: Sendable {
    /// A debug build of SchemaKit accepts them, a release build does not.
    case inDebugBuilds
    /// Always, for an app that only its developers run.
    case allowed
    /// Never.
    case refused
  }

  /// Opens a bundle that `schemactl bundle` or the build plugin wrote.
  ///
  /// - Parameters:
  ///   - path: the path of the bundle.
  ///   - functions: functions that the schema or the migrations call and that SQLite does not have.
  ///   - collations: collations that the schema or the migrations use and that SQLite does not have.
  ///   - drafts: whether the bundle may contain drafts.
  ///   - timeout: the time to wait for a lock, in seconds.
  /// - Throws: ``SchemaError`` if the file is missing, is truncated, was edited, or contains drafts that are
  ///   not allowed.
  public init(
    bundle path: String, functions: [AppFunction] = [], collations: [AppCollation] = [],
    drafts: Drafts = .inDebugBuilds, timeout: Double = 5
  ) throws(SchemaError) {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try readFile(path)
    } catch {
      throw SchemaError(Failure(error))
    }
    try self.init(
      bundle: bytes, named: "`\(path)`", functions: functions, collations: collations,
      drafts: drafts, timeout: timeout)
  }

  /// Opens a bundle that is in memory.
  ///
  /// - Parameters:
  ///   - bytes: the bundle.
  ///   - subject: the bundle in messages.
  ///   - functions: functions that the schema or the migrations call and that SQLite does not have.
  ///   - collations: collations that the schema or the migrations use and that SQLite does not have.
  ///   - drafts: whether the bundle may contain drafts.
  ///   - timeout: the time to wait for a lock, in seconds.
  /// - Throws: ``SchemaError``, as for a file.
  public init(
    bundle bytes: [UInt8], named subject: String = "the bundle", functions: [AppFunction] = [],
    collations: [AppCollation] = [], drafts: Drafts = .inDebugBuilds, timeout: Double = 5
  ) throws(SchemaError) {
    do throws(Failure) {
      let bundle = try HistoryBundle(bytes, subject: subject)
      if !drafts.areAllowed, !bundle.drafts.isEmpty {
        throw Failure(
          .invalidInput,
          "\(subject) contains drafts, which may still change: "
            + bundle.drafts.map { "`\($0)`" }.abridged(to: 5).joined(separator: ", "),
          remedy: "Freeze them for a release, and write the bundle again")
      }
      history = .bundle(bundle)
    } catch {
      throw SchemaError(error)
    }
    application = Application(functions, collations)
    self.timeout = timeout
  }

  package init(_ project: Project, timeout: Double) {
    history = .folder(project)
    application = project.application
    self.timeout = timeout
  }

  /// The history with all its manifests, decoded.
  func project() throws(Failure) -> Project {
    switch history {
    case .bundle(let bundle): try Project(bundle, application: application)
    case .folder(let project): project
    }
  }
}

extension SchemaMigrator.Drafts {
  fileprivate var areAllowed: Bool {
    switch self {
    case .allowed: return true
    case .refused: return false
    case .inDebugBuilds:
      #if DEBUG
        return true
      #else
        return false
      #endif
    }
  }
}

extension Application {
  package init(_ functions: [AppFunction], _ collations: [AppCollation]) {
    self.init(
      functions: functions.map(\.definition), collations: collations.map(\.collation))
  }
}
