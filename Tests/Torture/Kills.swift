import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// Kills the program with SIGKILL at random moments.
enum Kills: Campaign {
  static let name = "kills"

  static func run(_ run: Run) throws {
    let scenes =
      try DatabaseScenes(in: run.folder).all() + FolderScenes(in: run.folder).all()
      + AdoptionScenes(in: run.folder).all()
    let durations = try scenes.map { try $0.undisturbed(in: run.folder).seconds }
    while run.mayContinue {
      // Use all scenes in turn, so that each gets the same share of any number of attempts.
      let index = run.tried % scenes.count
      let scene = scenes[index]
      let delay = Double.random(in: 0...1.1, using: &run.generator) * durations[index]
      let problem = try scene.run(in: run.folder + "/copy", leavesFiles: true) { folder in
        let running = try start("schemactl", scene.words, in: folder)
        usleep(useconds_t(delay * 1_000_000))
        running.send(SIGKILL)
        return try running.wait()
      }
      run.note("kill -9, \(scene.name)", problem: problem.map { "after \(delay) s: \($0)" })
    }
  }
}

extension Scene {
  /// Runs the program without a fault, and returns its duration and exit code.
  func undisturbed(in folder: String) throws -> (seconds: Double, code: Int32) {
    var (seconds, code) = (0.0, Int32(0))
    let problem = try run(in: folder + "/copy", leavesFiles: false) { folder in
      let started = ContinuousClock.now
      let ended = try schemactl(words, in: folder)
      let taken = (ContinuousClock.now - started).components
      seconds = Double(taken.seconds) + Double(taken.attoseconds) / 1e18
      code = ended.code
      return ended
    }
    if let problem { throw Unprepared(reason: "\(name): \(problem)") }
    return (seconds, code)
  }
}
