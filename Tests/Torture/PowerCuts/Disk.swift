import SchemaFaultyFileSystem

/// A folder as programs see it, and its possible contents after a power failure.
struct Disk {
  typealias Image = [String: [UInt8]]

  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
  }

  private struct File {
    var current: [UInt8]
    var synced: [UInt8]
    /// The changes since the last sync.
    var changes: [Change] = []
  }

  private enum NameChange {
    case appears(String, file: Int)
    case goes(String)
  }

  private let device: Device
  /// Whether syncs have no effect.
  private let liesAboutSyncs: Bool
  private var files: [File] = []
  private var names: [String: Int] = [:]
  private var syncedNames: [String: Int] = [:]
  private var nameChanges: [NameChange] = []

  init(_ start: Image, device: Device, liesAboutSyncs: Bool = false) {
    self.device = device
    self.liesAboutSyncs = liesAboutSyncs
    for (name, bytes) in start {
      names[name] = files.count
      files.append(File(current: bytes, synced: bytes))
    }
    syncedNames = names
  }

  // MARK: Changes by programs

  mutating func apply(_ event: Recording.Event) {
    switch event {
    case .created(let name):
      nameChanges.append(.appears(name, file: files.count))
      names[name] = files.count
      files.append(File(current: [], synced: []))
    case .wrote(let name, let offset, let bytes):
      change(name, .write(offset: offset, bytes: bytes))
    case .truncated(let name, let size): change(name, .truncate(size: size))
    case .synced(let name, let folder):
      guard let file = names[name], !liesAboutSyncs else { return }
      sync(file)
      if folder { syncNames() }
    case .deleted(let name, let folder):
      nameChanges.append(.goes(name))
      names[name] = nil
      if folder, !liesAboutSyncs { syncNames() }
    case .renamed(let old, let new): rename(old, to: new)
    case .reached: break
    }
  }

  private mutating func change(_ name: String, _ change: Change) {
    guard let file = names[name] else { return }
    change.apply(to: &files[file].current)
    files[file].changes.append(change)
  }

  private mutating func sync(_ file: Int) {
    files[file].synced = files[file].current
    files[file].changes = []
  }

  private mutating func syncNames() {
    syncedNames = names
    nameChanges = []
  }

  /// Renames a file. The program syncs the file before the renaming and the folder after it. It does so
  /// without SQLite, so the recording does not contain these calls.
  private mutating func rename(_ old: String, to new: String) {
    guard let file = names.removeValue(forKey: old) else { return }
    names[new] = file
    sync(file)
    syncNames()
  }

  // MARK: Contents after a power failure

  /// The files if all changes are on disk, as after `kill -9`.
  var everything: Image { names.mapValues { files[$0].current } }

  /// The files if only synced changes are on disk.
  var synced: Image { syncedNames.mapValues { files[$0].synced } }

  /// Returns the files if a random part of the changes since the last sync is on disk. Writes may be torn.
  func remains(using chance: inout some RandomNumberGenerator) -> Image {
    var found = syncedNames
    for change in Self.choice(of: nameChanges, using: &chance) {
      switch change {
      case .appears(let name, let file): found[name] = file
      case .goes(let name): found[name] = nil
      }
    }
    var image: Image = [:]
    // Use a fixed order, so that a seed always gives the same image.
    for (name, file) in found.sorted(by: { $0.key < $1.key }) {
      image[name] = remains(of: files[file], using: &chance)
    }
    return image
  }

  private func remains(of file: File, using chance: inout some RandomNumberGenerator) -> [UInt8] {
    var bytes = file.synced
    let tears = Bool.random(using: &chance)
    for (change, isKept) in Self.choices(of: file.changes, using: &chance) {
      switch change {
      case .truncate: if isKept { change.apply(to: &bytes) }
      case .write(let offset, let new):
        if tears, Int.random(in: 0..<4, using: &chance) == 0 {
          tear(new, at: offset, into: &bytes, using: &chance)
        } else if isKept {
          change.apply(to: &bytes)
        } else if offset + new.count > bytes.count, Bool.random(using: &chance) {
          // The file has grown, but the new bytes are not on disk.
          bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count)
        }
      }
    }
    return bytes
  }

  /// Chooses the changes to keep: all, none, those up to a moment, all except one, or a random subset. If a
  /// later write is kept and an earlier one is not, the disk has reordered them.
  private static func choices<Element>(
    of all: [Element], using chance: inout some RandomNumberGenerator
  ) -> [(Element, isKept: Bool)] {
    switch Int.random(in: 0..<6, using: &chance) {
    case 0: return all.map { ($0, true) }
    case 1: return all.map { ($0, false) }
    case 2:
      let end = Int.random(in: 0...all.count, using: &chance)
      return all.enumerated().map { ($1, $0 < end) }
    case 3:
      let lost = all.indices.randomElement(using: &chance)
      return all.enumerated().map { ($1, $0 != lost) }
    default:
      let share = Double.random(in: 0...1, using: &chance)
      return all.map { ($0, Double.random(in: 0...1, using: &chance) < share) }
    }
  }

  private static func choice<Element>(
    of all: [Element], using chance: inout some RandomNumberGenerator
  ) -> [Element] {
    choices(of: all, using: &chance).filter(\.isKept).map(\.0)
  }

  /// Writes new, old or random bytes to each sector: within the range of the write or, if the disk is not
  /// powersafe, in the whole sector.
  private func tear(
    _ new: [UInt8], at offset: Int, into bytes: inout [UInt8],
    using chance: inout some RandomNumberGenerator
  ) {
    let end = offset + new.count
    // A write of less than a sector is torn at a byte.
    let size = device.isPowersafe ? 512 : device.sectorSize
    if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
    for sector in (offset / size)...((end - 1) / size) {
      let whole = sector * size..<min((sector + 1) * size, bytes.count)
      let range = whole.clamped(to: offset..<end)
      switch Int.random(in: 0..<8, using: &chance) {
      case 0..<3: bytes.replaceSubrange(range, with: new[range.shifted(by: -offset)])
      case 3..<6: break
      case 6:
        let part =
          range.lowerBound..<Int.random(in: range.lowerBound...range.upperBound, using: &chance)
        bytes.replaceSubrange(part, with: new[part.shifted(by: -offset)])
      default:
        let ruined = device.isPowersafe ? range : whole
        bytes.replaceSubrange(
          ruined, with: ruined.map { _ in UInt8.random(in: .min ... .max, using: &chance) })
      }
    }
  }
}

extension Disk.Change {
  fileprivate func apply(to file: inout [UInt8]) {
    switch self {
    case .truncate(let size):
      if size < file.count {
        file.removeLast(file.count - size)
      } else {
        file += [UInt8](repeating: 0, count: size - file.count)
      }
    case .write(let offset, let bytes):
      let end = offset + bytes.count
      if file.count < end { file += [UInt8](repeating: 0, count: end - file.count) }
      file.replaceSubrange(offset..<end, with: bytes)
    }
  }
}

extension Range<Int> {
  fileprivate func shifted(by distance: Int) -> Range<Int> {
    lowerBound + distance..<upperBound + distance
  }
}
