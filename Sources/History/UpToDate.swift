import SchemaModel
import Synchronization

/// The manifests of a folder by their bytes alone: what tells, without reading one, that nothing has
/// changed.
package struct FolderDigests: Sendable {
  /// In the order of the numbers.
  fileprivate let ids: [String]
  fileprivate let raw: [String]
}

extension MigrationFolder {
  /// Begins to read the files, many of them on a second thread, and gives what reads the rest.
  ///
  /// - Returns: what gives nil where anything is wrong with a file, a name, or two names together: that
  ///   wants a closer look.
  package func beginDigests() -> () -> FolderDigests? {
    guard let names = try? manifestNames() else { return { nil } }
    let reading = DigestReading(names, in: self)
    let beside = names.count < 64 ? nil : Beside { reading.work() }
    return {
      reading.work()
      beside?.wait()
      return reading.digests
    }
  }
}

/// Takes the digests of files, by as many threads as come to help.
private final class DigestReading: Sendable {
  private struct State {
    var next = 0
    var raw: [String]
    var isReadable = true
  }

  private let names: [ManifestName]
  private let folder: MigrationFolder
  private let state: Mutex<State>

  init(_ names: [ManifestName], in folder: MigrationFolder) {
    self.names = names
    self.folder = folder
    state = Mutex(State(raw: Array(repeating: "", count: names.count)))
  }

  /// Reads what nobody else has begun to read.
  func work() {
    while let index = next() {
      let bytes = try? readFile(
        joinedPath(folder.path, names[index].text), inFolder: folder.path,
        limit: MigrationFolder.manifestSizeLimit)
      let digest = bytes.map(rawDigest)
      state.withLock { state in
        state.isReadable = state.isReadable && digest != nil
        state.raw[index] = digest ?? ""
      }
    }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard state.isReadable, state.next < names.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  /// Once everybody has done their work.
  var digests: FolderDigests? {
    guard names.allSatisfy({ $0.problem == nil }) else { return nil }
    let state = state.withLock { $0 }
    let numbered = zip(names, state.raw).map { name, raw in
      (number: MigrationNumber(id: name.id), id: name.id, raw: raw)
    }.sorted { $0.number < $1.number }
    guard state.isReadable,
      zip(numbered, numbered.dropFirst()).allSatisfy({ $0.number < $1.number })
    else { return nil }
    return FolderDigests(ids: numbered.map(\.id), raw: numbered.map(\.raw))
  }
}

extension FolderDigests {
  /// Whether a database has run exactly what is in the folder and in its lock.
  ///
  /// It is the question of every start of an app and of every tenant's database in a long row, and
  /// nearly always the answer. False says nothing but that somebody must look closer.
  ///
  /// - Parameter rows: the ledger in its order.
  package func isApplied(as rows: [LedgerRow], _ lock: HistoryLock) -> Bool {
    ids.count == rows.count && lock.isPlainPrefix(of: rows)
      && zip(rows, rows.dropFirst()).allSatisfy { $0.position < $1.position }
      && rows.first.map { $0.position > 0 } ?? true
      && zip(zip(ids, raw), rows).allSatisfy { file, row in
        file.0.isSameText(as: row.id) && file.1 == row.rawDigest
          && isDigest(row.canonicalDigest) && isDigest(row.fingerprint)
      }
  }
}

extension HistoryLock {
  /// Whether a database has run what is frozen, in the form that was frozen, before anything else.
  fileprivate func isPlainPrefix(of rows: [LedgerRow]) -> Bool {
    let entries = entries
    return entries.count <= rows.count
      && zip(entries, rows).allSatisfy { entry, row in
        entry.id.isSameText(as: row.id) && acceptances(of: entry.id).isEmpty
          && entry.digests.raw == row.rawDigest && entry.digests.canonical == row.canonicalDigest
      }
  }
}
