import SchemaAuthoring
import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum RebaseCommand: Command {
  static let name = "rebase"
  static let declaration = CommandDeclaration(
    name: name, summary: "Renumbers drafts so that they come last.",
    discussion: """
      Renames the files of drafts that another branch has overtaken, in the order in which they \
      are, with the numbers that follow on the last migration. What is frozen is never renamed, and \
      no file is overwritten.
      """,
    examples: [
      .init("schemactl rebase 0008_add_tags", "Gives one draft the next number."),
      .init("schemactl rebase 8 9 --dry-run", "Shows what two would be called."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "ID", summary: "A draft: its id, its number or its file.", repeats: true)
    ],
    options: [OptionDeclaration("dry-run", summary: "Only say what would be renamed.")] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let folder = MigrationFolder(settings.migrations)
    let isRehearsal = session.invocation.flag("dry-run")
    let result = try attempt {
      try settings.withClaim {
        let renamings = try renamings(session.invocation.arguments, folder)
        if !isRehearsal { try session.writing.close { try rename(renamings, folder) } }
        return renamings
      }
    }
    switch result {
    case .success(let renamings):
      session.report(.rebased(renamings, isRehearsal: isRehearsal))
      return .success
    case .failure(let failure):
      session.report(.failed(.rebase, failure))
      return failure.status
    }
  }

  private static func renamings(
    _ names: [String], _ folder: MigrationFolder
  ) throws -> [Renaming] {
    do {
      // Two manifests with one number, and a lock in conflict, are what brings people here.
      return try renumbering(
        names, among: folder.ids(), frozen: folder.frozenIDs(), now: .now)
    } catch let error as HistoryReadError {
      throw error.problem(ofFolder: folder.path)
    } catch let problem as RenumberingProblem {
      throw Failure(problem, folder)
    }
  }

  private static func rename(_ renamings: [Renaming], _ folder: MigrationFolder) throws {
    do throws(FileError) {
      try folder.rename(renamings)
    } catch {
      throw Failure(error)
    }
  }
}

extension Failure {
  fileprivate init(_ problem: RenumberingProblem, _ folder: MigrationFolder) {
    switch problem {
    case .unknown(let name):
      self.init(.notFound, "there is no migration \(name) in \(folder.path)")
    case .frozen(let id):
      self.init(
        .usage,
        "\(id) is frozen and keeps its number, here or in another revision: devices know it by this "
          + "name; renumber the drafts")
    case .ambiguous(let name, let ids):
      self.init(
        .usage, "\(name) is the number of \(ids.joined(separator: " and ")): name one by its id")
    }
  }
}
