import Foundation
import Testing

extension WorkingFolder {
  /// A git repository with the files of `manifests` committed on `main`.
  package static func committed(
    _ manifests: KeyValuePairs<String, String>, freezing: Bool = true
  ) throws -> WorkingFolder {
    let folder = try WorkingFolder.of(manifests)
    try folder.git("init", "--quiet", "--initial-branch=main", ".")
    if freezing { try folder.expect(0, "freeze", "--release", "1.0") }
    try folder.commit("release 1.0")
    return folder
  }

  @discardableResult
  package func git(_ words: String..., mayFail: Bool = false) throws -> String {
    try SchemaTestPrograms.git(words, in: path, mayFail: mayFail)
  }

  package func commit(_ message: String) throws {
    try git("add", "--all")
    try git("commit", "--quiet", "--allow-empty", "-m", message)
  }
}

/// Runs git without the machine's configuration and user.
package func git(
  _ words: [String], in folder: String, mayFail: Bool = false
) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments =
    [
      "git", "-c", "user.name=Test", "-c", "user.email=test@example.invalid",
      "-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always",
    ] + words
  process.currentDirectoryURL = URL(fileURLWithPath: folder)
  process.environment = [
    "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": folder,
    "LC_ALL": "C", "GIT_EDITOR": "true",
  ]
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  process.standardInput = FileHandle.nullDevice
  try process.run()
  let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  guard process.terminationStatus == 0 || mayFail else {
    throw GitFailure(message: "git \(words): \(output)")
  }
  return output
}

struct GitFailure: Error {
  let message: String
}
