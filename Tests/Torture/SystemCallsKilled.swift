#if os(Linux)
  import Foundation
  import SchemaPlatform
  import SchemaTestPrograms
  import SchemaTestSupport

  /// Kills the program just before each system call that changes a file. This covers every state of the disk
  /// without random choices. Needs strace.
  enum SystemCallsKilled: Campaign {
    static let name = "system-calls-killed"

    /// The calls that change files. The disk stays the same between two of them.
    private static let calls = [
      "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fallocate", "unlink", "rename",
      "link",
      "mkdir", "fchmod", "fchown", "exit_group",
    ]

    static func run(_ run: Run) throws {
      guard FileManager.default.isExecutableFile(atPath: strace) else {
        return say("\(name): not run, since there is no \(strace)")
      }
      let databases = DatabaseScenes(in: run.folder)
      let scenes =
        try [
          databases.migrating(.delete, reminders: 300), databases.migrating(.wal, reminders: 300),
        ]
        + databases.others() + FolderScenes(in: run.folder).all()
        + AdoptionScenes(in: run.folder).all()
      var moments: [(scene: Scene, call: String, number: Int)] = []
      for scene in scenes {
        for (call, count) in try scene.calls(Self.calls, in: run.folder) {
          moments += (1...count).map { (scene, call, $0) }
        }
      }
      // A random order covers all scenes even if time is short.
      for (scene, call, number) in moments.shuffled(using: &run.generator) where run.mayContinue {
        let problem = try scene.run(in: run.folder + "/copy", leavesFiles: true) { folder in
          try traced(["-e", "inject=\(call):signal=SIGKILL:when=\(number)"], scene.words, folder)
        }
        run.note(
          "killed before each change of a file, \(scene.name)",
          problem: problem.map { "before \(call) \(number): \($0)" })
      }
    }
  }

  private let strace = "/usr/bin/strace"

  private func traced(
    _ options: [String], _ words: [String], _ folder: String
  ) throws -> Finished {
    let schemactl = programs.appendingPathComponent("schemactl").path
    return try SchemaTestPrograms.run(
      strace, ["-f", "-qq", "-o", folder + ".trace"] + options + [schemactl] + words, in: folder)
  }

  extension Scene {
    /// Returns the number of these system calls in a run without a fault.
    fileprivate func calls(_ names: [String], in folder: String) throws -> [String: Int] {
      var counts: [String: Int] = [:]
      let copy = folder + "/copy"
      let problem = try run(in: copy, leavesFiles: false) { folder in
        let ended = try traced(["-e", "trace=" + names.joined(separator: ",")], words, folder)
        // A line of the trace: `1234  pwrite64(3, …`
        for line in try String(contentsOfFile: folder + ".trace", encoding: .utf8)
          .split(separator: "\n")
        {
          guard let call = line.split(separator: " ").dropFirst().first?.split(separator: "(").first
          else { continue }
          if names.contains(String(call)) { counts[String(call), default: 0] += 1 }
        }
        return ended
      }
      if let problem { throw Unprepared(reason: "\(name): \(problem)") }
      return counts
    }
  }
#endif
