/// The manifests of a folder by their bytes alone: what tells, without reading one, that nothing has
/// changed.
package struct FolderDigests: Sendable {
  /// In the order of the numbers.
  fileprivate let ids: [String]
  fileprivate let raw: [String]
}

extension MigrationFolder {
  /// Begins to read the files, many of them on a second thread, and gives what waits for the end.
  ///
  /// - Returns: what gives nil where anything is wrong with a file, a name, or two names together: that
  ///   wants a closer look.
  package func beginDigests() -> () -> FolderDigests? {
    guard let names = try? manifestNames() else { return { nil } }
    if names.count < 64 { return { digests(names) } }
    let beside = Beside { self.digests(names) }
    return { beside.wait() }
  }

  private func digests(_ names: [ManifestName]) -> FolderDigests? {
    guard names.allSatisfy({ $0.problem == nil }) else { return nil }
    let numbered = names.map { (number: MigrationNumber(id: $0.id), name: $0) }
      .sorted { $0.number < $1.number }
    guard zip(numbered, numbered.dropFirst()).allSatisfy({ $0.number < $1.number }) else {
      return nil
    }
    var raw: [String] = []
    for (_, name) in numbered {
      guard
        let bytes = try? readFile(
          joinedPath(path, name.text), inFolder: path, limit: Self.manifestSizeLimit)
      else { return nil }
      raw.append(rawDigest(of: bytes))
    }
    return FolderDigests(ids: numbered.map(\.name.id), raw: raw)
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
        file.0.utf8.elementsEqual(row.id.utf8) && file.1 == row.rawDigest
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
        entry.id.utf8.elementsEqual(row.id.utf8) && acceptances(of: entry.id).isEmpty
          && entry.digests.raw == row.rawDigest && entry.digests.canonical == row.canonicalDigest
      }
  }
}
