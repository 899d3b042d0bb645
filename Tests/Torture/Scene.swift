import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// A command line, with the conditions that must be true regardless of how the program ends.
struct Scene {
  let name: String
  let words: [String]
  /// The working folder. Each run uses a copy of it.
  let template: String
  /// Returns the problem in the folder after a run; nil if there is none.
  let problem: (_ folder: String, _ ended: Finished) throws -> String?

  /// Names of unfinished files. An interrupted run may leave them, and all commands ignore them.
  private static var unfinished: Regex<(Substring, Substring?)> {
    #/.*\.partial(-claim|-journal|-wal|-shm)?|.*\.\d+-\d+\.tmp/#
  }

  /// Runs the program in a copy of the template with `hurt`, and checks the result.
  ///
  /// - Parameters:
  ///   - copy: the path of the copy, which is deleted at the end.
  ///   - leavesFiles: whether the program may leave unfinished files, as after SIGKILL.
  func run(
    in copy: String, leavesFiles: Bool, hurt: (_ folder: String) throws -> Finished
  ) throws -> String? {
    try FileManager.default.copyItem(atPath: template, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let ended = try hurt(copy)
    if !leavesFiles, let file = try unfinishedFiles(copy).first { return "it leaves \(file)" }
    guard let problem = problemOrError(copy, ended) else { return nil }
    return "\(problem)\nit had ended with \(ended.code): \(ended.output)\(ended.errors)"
  }

  /// Returns the problem. An unreadable database is also a problem.
  private func problemOrError(_ folder: String, _ ended: Finished) -> String? {
    do {
      return try problem(folder, ended)
    } catch {
      return "\(error)"
    }
  }

  private func unfinishedFiles(_ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
      $0.wholeMatch(of: Self.unfinished) != nil
    }
  }

  /// Returns the unexpected files in the folder.
  static func strangers(in folder: String, expected: (String) -> Bool) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter {
      !expected($0) && $0.wholeMatch(of: unfinished) == nil
    }
  }
}

/// Runs schemactl in a folder to its end.
func schemactl(_ words: [String], in folder: String) throws -> Finished {
  try run("schemactl", words, in: folder)
}
