import Foundation
import SchemaFaultyFileSystem

/// The changes to the files in a folder during an action, in order.
final class Recording {
  enum Event {
    case created(String)
    case wrote(String, offset: Int, bytes: [UInt8])
    case truncated(String, size: Int)
    case synced(String, folder: Bool)
    case deleted(String, folder: Bool)
    /// A renaming by the program itself, without SQLite.
    case renamed(String, to: String)
    /// The action reported a state with a ledger of this length. From here on, the state must not be lost.
    case reached(Int)
  }

  /// The files in the folder before the action.
  let start: [String: [UInt8]]
  private(set) var events: [Event] = []
  private let folder: String
  /// The inode numbers of the files, to detect renamed files.
  private var names: [String: UInt64]
  /// The new journals and WALs. Their first sync also syncs the folder (`os_unix.c`, `unixSync`).
  private var isNew: Set<String> = []
  /// The name of the file of the last write.
  private var written = ""

  /// Runs an action and records its changes to the files in `folder`.
  ///
  /// - Parameter body: the action. It calls its argument for each reached state.
  init(
    of folder: String, device: Device, _ body: (_ reached: @escaping (Int) -> Void) throws -> Void
  ) throws {
    self.folder = folder
    names = try Self.numbers(in: folder)
    start = try Dictionary(
      uniqueKeysWithValues: names.keys.map {
        ($0, [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))))
      })
    FaultyFileSystem.shared.install(device: device, note)
    defer { FaultyFileSystem.shared.uninstall() }
    try body { self.events.append(.reached($0)) }
  }

  private static func numbers(in folder: String) throws -> [String: UInt64] {
    var numbers: [String: UInt64] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where !name.hasSuffix("-shm") {
      numbers[name] = number(of: "\(folder)/\(name)")
    }
    return numbers
  }

  private static func number(of path: String) -> UInt64? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt64(status.st_ino)
  }

  private func note(_ call: FileCall) -> Decision {
    guard call.path.hasPrefix(folder + "/"), call.role != .temporary, call.role != .sharedMemory
    else { return .pass }
    let name = String(call.path.dropFirst(folder.count + 1))
    switch call.action {
    case .open(let isNew):
      noteRenamings()
      if isNew || names[name] == nil { create(name) }
    case .write(let offset, let bytes):
      // The program may have renamed a copy before this write to a log that has been open all the time.
      if name != written { noteRenamings() }
      written = name
      events.append(.wrote(name, offset: offset, bytes: Array(bytes)))
    case .truncate(let size): events.append(.truncated(name, size: size))
    case .sync:
      events.append(.synced(name, folder: isNew.remove(name) != nil))
      // Skip the sync: these files themselves are not read after a simulated power failure.
      return .pretend
    case .delete(let syncsFolder):
      noteRenamings()
      guard names.removeValue(forKey: name) != nil else { break }
      events.append(.deleted(name, folder: syncsFolder))
    default: break
    }
    return .pass
  }

  private func create(_ name: String) {
    events.append(.created(name))
    isNew.insert(name)
    // SQLite is about to create the file, which has no inode yet. The next call reads it.
    names[name] = Self.number(of: "\(folder)/\(name)") ?? 0
  }

  /// Records the renamings by the program itself.
  private func noteRenamings() {
    guard let now = try? Self.numbers(in: folder) else { return }
    for (name, number) in now where names[name] == nil {
      guard let old = names.first(where: { $0.value == number && now[$0.key] != number }) else {
        continue
      }
      events.append(.renamed(old.key, to: name))
      names[old.key] = nil
      names[name] = number
    }
    for name in names.keys { names[name] = now[name] ?? names[name] }
  }
}
