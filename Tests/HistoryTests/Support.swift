import Foundation
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaYAML

/// A folder that is deleted with the last reference to it.
final class TemporaryFolder {
  let path: String
  var folder: MigrationFolder { MigrationFolder(path) }

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func path(_ name: String) -> String { path + "/" + name }

  func write(_ name: String, _ text: String = "operations: []\n") throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  /// Creates the folder of a file.
  func makeFolder(of name: String) throws {
    let folder = URL(fileURLWithPath: path(name)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  func migrations() throws -> [Migration] { try folder.migrations() }

  /// The problems of the manifests, as `name: message`.
  func problems() -> [String] {
    do {
      _ = try migrations()
      return []
    } catch let input as InvalidInput {
      return input.diagnostics.map {
        "\($0.file.dropFirst(path.count + 1)): \($0.message.replacing(path, with: "FOLDER"))"
      }
    } catch {
      return ["\(error)"]
    }
  }
}

/// A manifest with one operation.
func yaml(deletingFrom table: String) -> String { "operations:\n- sql: DELETE FROM \(table)\n" }

func digest(_ text: String) -> String { SHA256.hex(text.utf8) }

extension Migration {
  /// Loads a file with this text, like the migrations folder.
  init(_ id: String, yaml: String) throws {
    let file = "migrations/\(id).yaml"
    let bytes = Array(yaml.utf8)
    self.init(id: id, file: file, bytes: bytes, manifest: try decodeManifest(bytes, file: file))
  }

  /// A migration whose canonical form depends on `table` alone.
  init(_ id: String, _ table: String) throws {
    try self.init(id, yaml: yaml(deletingFrom: table))
  }

  var digests: LockedDigests {
    LockedDigests(
      raw: rawDigest, canonical: canonicalDigest, schema: digest("schema of \(id)"),
      sqlite: "3.40.1")
  }
}

extension HistoryLock {
  /// A lock that freezes migrations in their current form.
  init(freezing migrations: [Migration], release: String? = "1.0") throws {
    self.init()
    for migration in migrations {
      try freeze(LockEntry(id: migration.id, release: release, digests: migration.digests))
    }
  }
}
