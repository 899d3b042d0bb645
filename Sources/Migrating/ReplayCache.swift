import History
import ManifestFormat
import Planning
import SQLite
import SchemaModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A folder of the user's in which records of replays are kept, so that a history that has shipped is
/// replayed once and not with every command.
///
/// All of it can be deleted at any time. A record's name is made of everything that the replay
/// depends on, and it holds its own digest: one that is damaged, that belongs to somebody else or that
/// cannot be read is as if it were not there. Nothing here fails: what cannot be kept is not kept.
package struct ReplayCache: Sendable {
  private let folder: String
  private let build: String

  /// Shorter histories are replayed in less time than a record needs.
  package static let fewestMigrations = 100

  /// Of a file, in bytes.
  private static let largest = 64 * 1_048_576
  private static let mostRecords = 64

  /// - Parameters:
  ///   - folder: need not be there yet.
  ///   - build: tells this program from every other one that might replay otherwise.
  package init(folder: String, build: String) {
    self.folder = folder
    self.build = build
  }

  /// The names of the records that may hold the replay of the first migration, of the first two and
  /// so on; none for an application that brings functions, for nobody knows what they do.
  func names(
    of migrations: [Migration], _ application: Application, forLint: Bool
  ) -> [String] {
    guard application.functions.isEmpty, application.collations.isEmpty else { return [] }
    var circumstances = RecordWriter()
    ["1", build, forLint ? "lint" : "", application.forcedStrategy?.rawValue ?? ""]
      .write(to: &circumstances)
    Connection.libraryIdentity.write(to: &circumstances)
    application.declaredFunctions.map { "\($0.name) \($0.arguments)" }.write(to: &circumstances)
    application.declaredCollations.write(to: &circumstances)
    var name = SHA256.hex(circumstances.bytes)
    return migrations.map { migration in
      let link = name + migration.rawDigest + migration.canonicalDigest + migration.id
      name = SHA256.hex(link.utf8)
      return name
    }
  }

  /// The record of as many of these names as there is one for, from the first one on.
  func record(of names: [String]) -> ReplayRecord? {
    guard isOurs(folder, S_IFDIR), let present = try? folderNames(folder) else { return nil }
    let files = Set(present.map { String(decoding: $0, as: UTF8.self) })
    for index in names.indices.reversed() where files.contains(names[index] + Kind.replay.rawValue)
    {
      let record: ReplayRecord? = read(.replay, names[index])
      if let record, record.steps.count == index + 1 { return record }
    }
    return nil
  }

  /// What stands in a folder of records.
  enum Kind: String {
    case replay = ".replay"
    /// What became of rows that lint has made up.
    case rows = ".rows"
  }

  /// Keeps a record of the last name, in the place of those of the others.
  func keep(_ record: some Recordable, _ kind: Kind, as names: [String]) {
    guard let name = names.last else { return }
    var content = RecordWriter()
    record.write(to: &content)
    guard content.bytes.count < Self.largest, makeFolder() else { return }
    let path = path(kind, name)
    // Whatever has the name is of no use.
    unlink(path)
    do throws(FileError) {
      let digest = digest(of: content.bytes, name)
      try writeFileAtomically(digest + content.bytes, to: path, mode: 0o600)
    } catch {
      return
    }
    for name in names.dropLast() { unlink(self.path(kind, name)) }
    removeOldest()
  }

  func read<Record: Recordable>(_ kind: Kind, _ name: String) -> Record? {
    let path = path(kind, name)
    guard isOurs(folder, S_IFDIR), isOurs(path, S_IFREG),
      let bytes = try? readFile(path, limit: Self.largest, followingLinks: false)
    else { return nil }
    let content = Array(bytes.dropFirst(64))
    guard bytes.prefix(64).elementsEqual(digest(of: content, name)) else { return nil }
    var reader = RecordReader(content)
    guard let record = try? Record(from: &reader), reader.isAtEnd else { return nil }
    // What is in use is not among the oldest.
    utimes(path, nil)
    return record
  }

  private func path(_ kind: Kind, _ name: String) -> String {
    folder + "/" + name + kind.rawValue
  }

  /// With the name, so that a record is worth nothing under another one.
  private func digest(of content: [UInt8], _ name: String) -> [UInt8] {
    var hash = SHA256()
    hash.update(name.utf8)
    hash.update(content)
    return Array(hash.finishHex().utf8)
  }

  /// Whether nobody else can have written what is there.
  private func isOurs(_ path: String, _ kind: mode_t) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == kind else { return false }
    return status.st_uid == geteuid() && status.st_mode & 0o022 == 0
  }

  private func makeFolder() -> Bool {
    var parts = folder.split(separator: "/", omittingEmptySubsequences: false)[...]
    var missing: [String] = []
    var status = stat()
    while stat(parts.joined(separator: "/") + "/", &status) != 0 {
      guard errno == ENOENT, parts.count > 1 else { return false }
      missing.append(parts.joined(separator: "/"))
      parts.removeLast()
    }
    // As root in somebody's home it would be in their way.
    if !missing.isEmpty, geteuid() == 0, status.st_uid != 0 { return false }
    for path in missing.reversed() where mkdir(path, 0o700) != 0 && errno != EEXIST {
      return false
    }
    return isOurs(folder, S_IFDIR)
  }

  private func removeOldest() {
    ClaimedFile.sweep(folder, "tmp") { _ in true }
    let names = ((try? folderNames(folder)) ?? []).map { String(decoding: $0, as: UTF8.self) }
    let isRecord = { (name: String) in
      name.hasSuffix(Kind.replay.rawValue) || name.hasSuffix(Kind.rows.rawValue)
    }
    let records = names.filter(isRecord).map { name in
      var status = stat()
      let isThere = lstat(folder + "/" + name, &status) == 0
      return (name, time: isThere ? status.modified.tv_sec : 0)
    }
    for (name, _) in records.sorted(by: { $0.time > $1.time }).dropFirst(Self.mostRecords) {
      unlink(folder + "/" + name)
    }
  }
}
