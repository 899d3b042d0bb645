import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// A command line with the conditions that must hold however the program ends.
struct Scene {
  let name: String
  let words: [String]
  /// The working folder, which is copied for each run.
  let template: String
  /// The problem in the folder after a run; nil if there is none.
  let problem: (_ folder: String, _ ended: Finished) throws -> String?

  /// Names of unfinished files that an interrupted run may leave and that are always ignored.
  private static var unfinished: Regex<(Substring, Substring?)> {
    #/.*\.partial(-claim|-journal|-wal|-shm)?|.*\.\d+-\d+\.tmp/#
  }

  /// Runs the program in a copy, applies `hurt` to it, and checks the result.
  ///
  /// - Parameters:
  ///   - copy: the path of the copy, which is deleted again.
  ///   - leavesFiles: whether it may leave unfinished files, as after a kill.
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

  /// An unreadable database is a finding, too.
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

  /// Unexpected files in the folder.
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
