import Foundation
import SQLite
import Testing

/// What a run of the program left behind.
struct Run {
  let status: Int32
  let output: String
  let errors: String

  /// The one JSON document of standard output.
  func json() throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
    return try #require(object as? [String: Any])
  }
}

/// The built program: it stands in the folder of the test bundle, or of what that is part of.
let program: String = {
  var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
  while folder.path != "/" {
    let file = folder.appendingPathComponent("schemactl").path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder.boolValue {
      return file
    }
    folder.deleteLastPathComponent()
  }
  return "schemactl is not built"
}()

let repository = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// A working folder that is removed with the last reference to it.
final class WorkingFolder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  /// With the repository's own history in `migrations`.
  static func ofReminders() throws -> WorkingFolder {
    let folder = try WorkingFolder()
    try FileManager.default.copyItem(
      atPath: repository.appendingPathComponent("migrations").path,
      toPath: folder.path("migrations"))
    try? FileManager.default.removeItem(atPath: folder.path("migrations/history.lock"))
    return folder
  }

  /// With these manifests in `migrations`: file name without ending, and text.
  static func of(_ manifests: KeyValuePairs<String, String>) throws -> WorkingFolder {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    for (id, text) in manifests { try folder.write("migrations/\(id).yaml", text) }
    return folder
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func path(_ name: String) -> String { path + "/" + name }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path(name), withIntermediateDirectories: true)
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }

  func connection(_ name: String = "app.sqlite") throws -> Connection {
    try Connection(path: path(name), mode: .readWriteCreate)
  }

  /// Whatever is asked, as `a|b` for each row.
  func rows(_ sql: String, in name: String = "app.sqlite") throws -> [String] {
    try connection(name).rows(sql).map { row in
      row.map { value in
        switch value {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .text(let text): text
        case .blob: "BLOB"
        }
      }.joined(separator: "|")
    }
  }

  func applied() throws -> [String] {
    try rows("SELECT id FROM schemactl_migrations ORDER BY position")
  }

  // MARK: Running

  /// Runs the program here and waits for it.
  @discardableResult
  func run(
    _ arguments: String..., in subfolder: String = "", environment: [String: String] = [:],
    asStranger: Bool = false
  ) throws -> Run {
    let child = try start(
      arguments, in: subfolder, environment: environment, asStranger: asStranger)
    return try child.wait()
  }

  /// Runs it and expects an exit status.
  @discardableResult
  func expect(
    _ status: Int32, _ arguments: String..., in subfolder: String = "",
    environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Run {
    let run = try start(arguments, in: subfolder, environment: environment).wait()
    #expect(
      run.status == status, "\(arguments): \(run.output)\(run.errors)",
      sourceLocation: sourceLocation)
    return run
  }

  func start(
    _ arguments: [String], in subfolder: String = "", environment: [String: String] = [:],
    asStranger: Bool = false, output: FileHandle? = nil, errors: FileHandle? = nil
  ) throws -> Child {
    try Child(
      self, arguments, in: subfolder, environment: environment, asStranger: asStranger,
      output: output, errors: errors)
  }
}

/// A run of the program that goes on.
final class Child {
  private let process = Process()
  private let folder: WorkingFolder
  private let output: URL
  private let errors: URL

  /// - Parameter asStranger: as a user who owns nothing here; needs a test that runs as root.
  init(
    _ folder: WorkingFolder, _ arguments: [String], in subfolder: String,
    environment: [String: String], asStranger: Bool, output: FileHandle?, errors: FileHandle?
  ) throws {
    self.folder = folder
    let name = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    self.output = name.appendingPathExtension("out")
    self.errors = name.appendingPathExtension("err")
    for file in [self.output, self.errors] { try Data().write(to: file) }
    let words = [program] + arguments
    let command =
      asStranger && geteuid() == 0
      ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + words : words
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path(subfolder))
    var inherited = ProcessInfo.processInfo.environment
    for variable in ["SCHEMACTL_DATABASE", "NO_COLOR", "TERM"] { inherited[variable] = nil }
    process.environment = inherited.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try output ?? FileHandle(forWritingTo: self.output)
    process.standardError = try errors ?? FileHandle(forWritingTo: self.errors)
    try process.run()
  }

  func send(_ signal: Int32) {
    if process.isRunning { kill(process.processIdentifier, signal) }
  }

  var isRunning: Bool { process.isRunning }

  #if os(Linux)
    /// Whether the program has begun to take a signal itself.
    func takes(_ signal: Int32) -> Bool {
      let status = try? String(
        contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
      let mask = line.flatMap { UInt64($0.split(separator: "\t")[1], radix: 16) } ?? 0
      return mask & (1 << UInt64(signal - 1)) != 0
    }
  #endif

  /// 128 and the signal's number when a signal has ended it.
  func wait() throws -> Run {
    process.waitUntilExit()
    defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
    let isKilled = process.terminationReason == .uncaughtSignal
    return Run(
      status: process.terminationStatus + (isKilled ? 128 : 0),
      output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}

/// Waits until something holds, for a minute at most.
func waitUntil(_ condition: () throws -> Bool) throws {
  for _ in 0..<6000 {
    if try condition() { return }
    usleep(10_000)
  }
  Issue.record("waited for a minute in vain")
}

/// A manifest of SQL.
func manifest(_ sql: String) -> String { "operations:\n- sql: |\n    \(sql)\n" }

let tableOfNotes = manifest("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
