import Foundation
import History
import ManifestFormat
import SchemaModel

/// A folder that is removed with the last reference to it.
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

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  func migrations() throws -> [Migration] { try folder.migrations(decode: decode) }

  /// The messages of what is wrong with the manifests, as `name: message`.
  func problems() -> [String] {
    do {
      _ = try migrations()
      return []
    } catch HistoryReadError.invalid(let input) {
      return input.diagnostics.map {
        "\($0.file.dropFirst(path.count + 1)): \($0.message.replacing(path, with: "FOLDER"))"
      }
    } catch {
      return ["\(error)"]
    }
  }
}

/// Stands in for the manifest's decoder: the canonical form is what is neither comment nor CR, and
/// each line `!text` is a problem.
func decode(_ bytes: [UInt8], _ file: String) throws(InvalidInput) -> Manifest {
  let lines = String(decoding: bytes.filter { $0 != 13 }, as: UTF8.self).split(
    separator: "\n", omittingEmptySubsequences: false)
  let problems = lines.enumerated().filter { $0.element.hasPrefix("!") }.map {
    Diagnostic(
      file: file, position: Position(line: $0.offset + 1, column: 1),
      message: String($0.element.dropFirst()))
  }
  guard problems.isEmpty else { throw InvalidInput(problems) }
  let canonical = lines.filter { !$0.hasPrefix("#") }.joined(separator: "\n")
  return Manifest(
    file: file, description: nil, operations: [], before: [], after: [], foreignKeys: .deferred,
    requires: Requirements(), waivers: [], canonicalForm: Array(canonical.utf8))
}

func digest(_ text: String) -> String { SHA256.hex(text.utf8) }

extension Migration {
  /// As `decode` and the folder make it from a file.
  init(_ id: String, _ text: String) throws {
    let file = "migrations/\(id).yaml"
    let bytes = Array(text.utf8)
    self.init(id: id, file: file, bytes: bytes, manifest: try decode(bytes, file))
  }

  var digests: LockedDigests {
    LockedDigests(
      raw: rawDigest, canonical: canonicalDigest, schema: digest("schema of \(id)"),
      sqlite: "3.40.1")
  }
}

extension HistoryLock {
  /// A lock that freezes migrations as they are.
  init(freezing migrations: [Migration], release: String? = "1.0") throws {
    self.init()
    for migration in migrations {
      try freeze(LockEntry(id: migration.id, release: release, digests: migration.digests))
    }
  }
}
