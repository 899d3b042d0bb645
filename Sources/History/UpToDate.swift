import SchemaPlatform
import SchemaSQLText

/// The manifests of a folder by their bytes alone: what tells, without reading one, that nothing has
/// changed.
package struct FolderDigests: Sendable {
  /// In the order of the numbers.
  fileprivate let ids: [String]
  fileprivate let raw: [String]
}

extension MigrationFolder {
  /// The digests of all manifests.
  ///
  /// - Returns: nil where anything is wrong with a file, a name, or two names together: that needs a
  ///   closer look.
  package func digests() -> FolderDigests? {
    guard let names = try? manifestNames(), names.allSatisfy({ $0.problem == nil }) else {
      return nil
    }
    var files: [(number: MigrationNumber, id: String, raw: String)] = []
    for name in names {
      let bytes = try? readFile(
        joinedPath(path, name.text), inFolder: path, limit: Self.manifestSizeLimit)
      guard let bytes else { return nil }
      files.append((MigrationNumber(id: name.id), name.id, rawDigest(of: bytes)))
    }
    files.sort { $0.number < $1.number }
    guard zip(files, files.dropFirst()).allSatisfy({ $0.number < $1.number }) else { return nil }
    return FolderDigests(ids: files.map(\.id), raw: files.map(\.raw))
  }
}

extension FolderDigests {
  /// Whether a database has run exactly the migrations of the folder and of its lock.
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
        file.0 == row.id && file.1 == row.rawDigest
          && isDigest(row.canonicalDigest) && isDigest(row.fingerprint)
      }
  }
}

extension HistoryLock {
  /// Whether a database has run the frozen migrations first, in their frozen form.
  fileprivate func isPlainPrefix(of rows: [LedgerRow]) -> Bool {
    let entries = entries
    return entries.count <= rows.count
      && zip(entries, rows).allSatisfy { entry, row in
        entry.id == row.id && entry.acceptances.isEmpty
          && entry.digests.raw == row.rawDigest && entry.digests.canonical == row.canonicalDigest
      }
  }
}
