import Foundation
import SchemaTestSupport

/// What the whole program is made to do, and what must hold however it was ended.
struct Scene {
  let name: String
  let words: [String]
  /// A folder that is copied for each run, and in which the program runs.
  let template: String
  /// What is found in the folder of a run that must never be; nil when all is as it should be.
  let problem: (_ folder: String, _ ended: Finished) throws -> String?

  /// Names that a run which was not let finish may leave, and that nobody takes for something else.
  private static var unfinished: Regex<(Substring, Substring?)> {
    #/.*\.partial(-claim|-journal|-wal|-shm)?|.*\.\d+-\d+\.tmp/#
  }

  /// Runs it in a copy, with what `hurt` does to it, and looks at the end.
  ///
  /// - Parameters:
  ///   - copy: where the copy is made; it is removed again.
  ///   - leavesFiles: whether it may leave unfinished files, as one may that is not asked to end.
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

  /// A database that cannot even be read is a finding, too.
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

  /// What stands in the folder and nobody can explain.
  static func strangers(in folder: String, expected: (String) -> Bool) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter {
      !expected($0) && $0.wholeMatch(of: unfinished) == nil
    }
  }
}

/// Runs schemactl in a folder, to its end.
func schemactl(_ words: [String], in folder: String) throws -> Finished {
  try run("schemactl", words, in: folder)
}
