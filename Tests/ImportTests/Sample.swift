import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

/// A folder with a sample of a tool: its files, and `app.sqlite`, created by `app.sql` in the
/// tool's form.
final class Sample {
  let path: String
  private static let samples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Samples")

  init(_ tool: String) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.copyItem(at: Self.samples.appendingPathComponent(tool), to: url)
    path = url.path
    for file in try FileManager.default.contentsOfDirectory(atPath: path)
    where file.hasSuffix(".sql") && !file.hasPrefix("upgrade") {
      let database = String(file.dropLast(4)) + ".sqlite"
      try open(database).execute(try text(file))
    }
  }

  /// An empty folder with these files.
  init(files: KeyValuePairs<String, String>) throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    for (name, text) in files { try write(name, text) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func open(_ name: String = "app.sqlite") throws -> Connection {
    try Connection(path: path + "/" + name, mode: .readWriteCreate)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: path + "/" + name, encoding: .utf8)
  }

  func write(_ name: String, _ text: String) throws {
    let file = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path + "/" + name)
  }

  func copy(_ name: String, to other: String) throws {
    try FileManager.default.copyItem(atPath: path + "/" + name, toPath: path + "/" + other)
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

  /// The ids of the manifests, in the order of their names.
  var manifests: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/migrations")) ?? []
    return names.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
  }

  func run(_ arguments: String...) throws -> Finished {
    try SchemaTestPrograms.run(
      programs.appendingPathComponent("schemactl").path, arguments, in: path)
  }

  @discardableResult
  func expect(
    _ status: Int32, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Finished {
    let run = try SchemaTestPrograms.run(
      programs.appendingPathComponent("schemactl").path, arguments, in: path)
    #expect(
      run.code == status, "\(arguments): \(run.output)\(run.errors)",
      sourceLocation: sourceLocation)
    return run
  }
}
