import Foundation
import SchemaSQLite
import Testing

extension Finished {
  package var status: Int32 { code }

  /// The JSON document on standard output.
  package func json() throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
    return try #require(object as? [String: Any])
  }
}

/// The built program.
package let program = programs.appendingPathComponent("schemactl").path

/// The repository's root, whose `migrations/` is a real history.
package let repository = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// A working folder that is deleted with the last reference to it.
package final class WorkingFolder {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  /// A folder with the repository's own history in `migrations`.
  package static func ofReminders() throws -> WorkingFolder {
    let folder = try WorkingFolder()
    try FileManager.default.copyItem(
      atPath: repository.appendingPathComponent("migrations").path,
      toPath: folder.path("migrations"))
    try? FileManager.default.removeItem(atPath: folder.path("migrations/history.lock"))
    return folder
  }

  /// A folder with these manifests in `migrations`, given by file name without extension and text.
  package static func of(_ manifests: KeyValuePairs<String, String>) throws -> WorkingFolder {
    let folder = try WorkingFolder()
    try folder.makeFolder("migrations")
    for (id, text) in manifests { try folder.write("migrations/\(id).yaml", text) }
    return folder
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  package func path(_ name: String) -> String { path + "/" + name }

  package func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path(name), withIntermediateDirectories: true)
  }

  package func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  package func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path(name))
  }

  package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  package func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }

  package func connection(_ name: String = "app.sqlite") throws -> Connection {
    try Connection(path: path(name), mode: .readWriteCreate)
  }

  /// The result of a query, as `a|b` for each row.
  package func rows(_ sql: String, in name: String = "app.sqlite") throws -> [String] {
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

  package func applied() throws -> [String] {
    try rows("SELECT id FROM schemactl_migrations ORDER BY position")
  }

  // MARK: Running

  /// Runs the program in the folder and waits for it.
  @discardableResult
  package func run(
    _ arguments: String..., in subfolder: String = "", environment: [String: String] = [:],
    asStranger: Bool = false
  ) throws -> Finished {
    let child = try start(
      arguments, in: subfolder, environment: environment, asStranger: asStranger)
    return try child.wait()
  }

  /// Runs the program and expects an exit status.
  @discardableResult
  package func expect(
    _ status: Int32, _ arguments: String..., in subfolder: String = "",
    environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Finished {
    let run = try start(arguments, in: subfolder, environment: environment).wait()
    #expect(
      run.status == status, "\(arguments): \(run.output)\(run.errors)",
      sourceLocation: sourceLocation)
    return run
  }

  /// - Parameter asStranger: runs as a user who owns no file here; needs root.
  package func start(
    _ arguments: [String], in subfolder: String = "", environment: [String: String] = [:],
    asStranger: Bool = false, output: FileHandle? = nil, errors: FileHandle? = nil
  ) throws -> Running {
    let stranger = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let command = (asStranger && geteuid() == 0 ? stranger : []) + [program] + arguments
    let running = try SchemaTestPrograms.start(
      command[0], Array(command.dropFirst()), in: path(subfolder), environment: environment,
      output: output, errors: errors)
    running.surroundings = self
    return running
  }

  /// Runs a shell command in the folder, with the program as `$schemactl`.
  package func shell(_ line: String, environment: [String: String] = [:]) throws -> Finished {
    try SchemaTestPrograms.start(
      "/bin/sh", ["-c", line], in: path,
      environment: environment.merging(["schemactl": program]) { $1 }
    ).wait()
  }
}

/// Waits for a condition, at most a minute.
package func waitUntil(_ condition: () throws -> Bool) throws {
  for _ in 0..<6000 {
    if try condition() { return }
    usleep(10_000)
  }
  Issue.record("waited for a minute in vain")
}

/// A manifest with one SQL operation.
package func manifest(_ sql: String) -> String { "operations:\n- sql: |\n    \(sql)\n" }

package let tableOfNotes = manifest("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
