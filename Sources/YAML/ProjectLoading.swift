import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

extension Project {
  /// Reads a history: every manifest of the folder, and its lock.
  ///
  /// - Parameters:
  ///   - ignoring: globs of live objects that are not the history's.
  ///   - twins: explains which of several manifests with one number must change.
  /// - Throws: `InvalidInput` with every problem of every manifest, or a `Failure`.
  package static func load(
    migrations path: String, application: Application = Application(), ignoring: [String] = [],
    explaining twins: ([[ManifestName]]) -> [ExactText: String] = MigrationFolder.renumberOneOf
  ) throws -> Project {
    let folder = MigrationFolder(path)
    do throws(HistoryReadError) {
      var project = Project(
        folder: folder, migrations: try folder.migrations(explaining: twins),
        lock: try folder.lock(),
        application: application, foreign: ForeignObjects(ignoring: ignoring))
      // Once, however many databases need them.
      let squashed = Locked<[Migration]??>(nil)
      project.readSquashed = { folder in
        try squashed.withLock { known in
          let found = try known ?? MigrationFolder.readSquashed(folder)
          known = .some(found)
          return found
        }
      }
      return project
    } catch {
      throw error.problem
    }
  }
}

extension HistoryReadError {
  /// `InvalidInput` with every problem of every manifest, or a `Failure`.
  package var problem: any Error {
    switch self {
    case .missingFolder(let path):
      Failure(
        .notFound,
        "the migrations directory \(path) does not exist",
        remedy: "`schemactl init` starts a project, `schemactl init --from FILE` starts one from a "
          + "database, and `schemactl import FOLDER` imports the migrations of another tool. "
          + "--migrations names another directory")
    case .otherHistory(let path, let names):
      Failure(
        .notFound,
        "\(path) contains no manifests, but \(names.prefix(3).joined(separator: ", "))"
          + "\(names.count > 3 ? ", …" : ""): schemactl runs manifests (0001_what_it_does.yaml) "
          + "that are in the folder itself. Name the folder of the manifests with --migrations "
          + "or in schemactl.yaml. `schemactl import \(shellQuoted(path)) --migrations FOLDER` "
          + "imports the history of another tool")
    case .unreadable(let error): Failure(error)
    case .invalid(let input): input
    case .brokenLock(let file, let error): Failure(error, file: file)
    }
  }
}

extension Failure {
  /// A lock that cannot be read: the frozen history is broken, or a newer schemactl wrote it.
  package init(_ error: LockError, file: String) {
    self.init(
      error.kind == .newerVersion ? .invalidInput : .brokenHistory, error.message,
      details: error.details, place: Failure.Place(file: file, position: error.position))
  }
}
