#if os(Linux)
  import Foundation
  import SchemaPlatform
  import SchemaTestPrograms
  import SchemaTestSupport

  /// Sends one or two of the signals SIGINT, SIGTERM and SIGHUP at random moments.
  enum SignalsAtRandom: Campaign {
    static let name = "signals"

    static func run(_ run: Run) throws {
      let databases = DatabaseScenes(in: run.folder)
      let scenes =
        try databases.all() + FolderScenes(in: run.folder).all()
        + AdoptionScenes(in: run.folder).all()
        + lookers(try databases.template())
      let usual = try scenes.map { try $0.undisturbed(in: run.folder) }
      while run.mayContinue {
        let index = run.tried % scenes.count
        let scene = scenes[index]
        let signal = [SIGINT, SIGTERM, SIGHUP].randomElement(using: &run.generator) ?? SIGINT
        let isTwice = Int.random(in: 0..<4, using: &run.generator) == 0
        let delay = Double.random(in: 0...1, using: &run.generator) * usual[index].seconds
        let pause = Double.random(in: 0...0.01, using: &run.generator)
        var code: Int32 = 0
        var problem = try scene.run(in: run.folder + "/copy", leavesFiles: isTwice) { folder in
          let running = try start("schemactl", scene.words, in: folder)
          while running.isRunning, !running.takes(signal) { usleep(100) }
          usleep(useconds_t(delay * 1_000_000))
          running.send(signal)
          if isTwice {
            usleep(useconds_t(pause * 1_000_000))
            running.send(signal)
          }
          let ended = try running.wait(seconds: 60)
          code = ended.code
          return ended
        }
        if ![130, usual[index].code].contains(code) { problem = problem ?? "it ends with \(code)" }
        run.note(
          "\(isTwice ? "two signals" : "a signal"), \(scene.name)",
          problem: problem.map { "signal \(signal) after \(delay) s: \($0)" })
      }
    }

    /// Scenes with commands that write nothing. The folder must be unchanged, byte by byte.
    private static func lookers(_ template: String) -> [Scene] {
      [
        ["migrate", "--dry-run", "--database", "app.sqlite"],
        ["verify", "--database", "app.sqlite"], ["lint"], ["check"], ["plan"],
        ["status", "--database", "app.sqlite"],
      ].map { words in
        Scene(name: words.prefix(2).joined(separator: " "), words: words, template: template) {
          folder, _ in
          FileManager.default.contentsEqual(atPath: folder, andPath: template)
            ? nil : "the folder is not what it was"
        }
      }
    }
  }
#endif
