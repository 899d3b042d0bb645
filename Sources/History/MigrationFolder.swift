import ManifestFormat
import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a history could not be read.
package enum HistoryReadError: Error, Sendable {
  /// The folder is not there.
  case missingFolder(path: String)
  /// The folder holds no manifest, but files that look like a history: `.sql` files, or folders with
  /// manifests or `.sql` files. They are named as seen from the folder.
  case otherHistory(path: String, names: [String])
  /// The folder or the lock is there and cannot be read.
  case unreadable(FileError)
  /// Every problem of every manifest.
  case invalid(InvalidInput)
  case brokenLock(file: String, LockError)
}

/// A folder of manifests and their history lock.
package struct MigrationFolder: Sendable, Hashable {
  /// A larger manifest is not read.
  package static let manifestSizeLimit = 8 * 1_048_576

  package let path: String

  package init(_ path: String) {
    self.path = path
  }

  /// Where the manifest with this id is, or would be.
  package func file(ofMigration id: String) -> String { joinedPath(path, id + ".yaml") }

  // MARK: Manifests

  /// Every manifest, in the order of their numbers. An empty folder is a history without migrations.
  package func migrations() throws(HistoryReadError) -> [Migration] {
    let names = try manifestNames()
    let twins = twins(in: names)
    var migrations: [Migration] = []
    var diagnostics: [Diagnostic] = []
    for name in names {
      let file = joinedPath(path, name.text)
      func report(_ message: String) {
        diagnostics.append(Diagnostic(file: file, message: message))
      }
      if let problem = name.problem {
        report(problem)
        continue
      }
      if let problem = twins[name.text] { report(problem) }
      do {
        let bytes = try readFile(file, inFolder: path, limit: Self.manifestSizeLimit)
        let manifest = try decodeManifest(bytes, file: file)
        migrations.append(Migration(id: name.id, file: file, bytes: bytes, manifest: manifest))
      } catch let error as InvalidInput {
        diagnostics += error.diagnostics
      } catch let error as FileError where error.isOfFile {
        report(error.message)
      } catch let error as FileError {
        // A failure of the system is not a problem of the manifest.
        throw .unreadable(error)
      } catch {
        report("\(error)")
      }
    }
    guard diagnostics.isEmpty else { throw .invalid(InvalidInput(diagnostics)) }
    return migrations.sorted { $0.number < $1.number }
  }

  /// The problems of manifests whose number another one has, by their names. Of two, a frozen one keeps
  /// its number, and one that is upstream.
  private func twins(in names: [ManifestName]) -> [ExactText: String] {
    let named = names.filter { $0.problem == nil }
    let groups = Dictionary(grouping: named) { MigrationNumber(id: $0.id) }.filter { $1.count > 1 }
    guard !groups.isEmpty else { return [:] }
    let lock = joinedLock()
    let others = try? OtherRevisions(of: self, lock: lock)
    let released = others?.releasedIDs ?? []
    let locked = Set((lock?.entries ?? []).map(\.id.exact))
    let frozen = locked.union((others?.locks ?? []).flatMap(\.lock.entries).map(\.id.exact))
    var problems: [ExactText: String] = [:]
    for (number, names) in groups {
      var (keeper, reason): (ManifestName?, String) = (nil, "")
      for (ids, word) in [(released, "released"), (locked, "frozen"), (frozen, "frozen")]
      where keeper == nil {
        let found = names.filter { ids.contains($0.id) }
        if found.count == 1 { (keeper, reason) = (found[0], " and is \(word)") }
      }
      if keeper == nil, let id = try? others?.upstream(among: names.map(\.id)) {
        (keeper, reason) = (names.first { $0.id == id }, " and is upstream")
      }
      let first = keeper ?? names[0]
      for name in names where name.text != first.text {
        let command = "(`\(rebaseCommand([name.id]))`)"
        let advice =
          if released.contains(name.id) {
            "; both are released, so neither can get another number"
          } else if lock == nil, frozen.contains(name.id) {
            "; both are frozen: run `schemactl freeze`, which reports which one to renumber"
          } else if keeper != nil {
            ": renumber this one \(command)"
          } else {
            ": give one of the two another number \(command)"
          }
        problems[name.text] = "\(first.text) has the number \(number) too\(reason)\(advice)"
      }
    }
    return problems
  }

  /// The ids of all manifests, in the order of their numbers, whatever the files hold and whether or
  /// not two have one number.
  package func ids() throws(HistoryReadError) -> [String] {
    try manifestNames().filter { $0.problem == nil }.map(\.id)
      .sorted { MigrationNumber(id: $0) < MigrationNumber(id: $1) }
  }

  func manifestNames() throws(HistoryReadError) -> [ManifestName] {
    let names: [[UInt8]]
    do throws(FileError) {
      names = try folderNames(path)
    } catch {
      throw error.systemError == ENOENT ? .missingFolder(path: path) : .unreadable(error)
    }
    let manifests = names.compactMap(ManifestName.init)
    // An empty history must not pass for one that was checked.
    let others = manifests.isEmpty ? otherHistory(names) : []
    guard others.isEmpty else { throw .otherHistory(path: path, names: others) }
    return manifests
  }

  /// The `.sql` files of a folder without manifests, and its folders that hold some or manifests, at
  /// most four levels deep.
  /// `connection.sql` and a folder `queries` belong to the application.
  private func otherHistory(_ names: [[UInt8]]) -> [String] {
    let known = ["connection.sql", "queries"]
    return names.compactMap { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      guard !name.hasPrefix("."), !known.contains(name) else { return nil }
      if isSQLFile(bytes) { return name }
      return holdsHistory(joinedPath(path, name), depth: 4) ? name + "/" : nil
    }
  }

  private func holdsHistory(_ folder: String, depth: Int) -> Bool {
    let inside = (try? folderNames(folder)) ?? []
    if inside.contains(where: { isSQLFile($0) || isManifest($0) }) { return true }
    return depth > 1
      && inside.contains { bytes in
        let name = String(decoding: bytes, as: UTF8.self)
        return !name.hasPrefix(".") && holdsHistory(joinedPath(folder, name), depth: depth - 1)
      }
  }

  // MARK: The lock

  package var lockFile: String { joinedPath(path, HistoryLock.fileName) }

  /// The history lock, nil when nothing has been frozen yet.
  package func lock() throws(HistoryReadError) -> HistoryLock? {
    guard let bytes = try lockBytes() else { return nil }
    do throws(LockError) {
      return try HistoryLock(parsing: bytes)
    } catch {
      throw .brokenLock(file: lockFile, error)
    }
  }

  /// The lock as `freeze` reads it, and what had to be done to read it: the sides of a merge conflict are
  /// joined, and version 1 is converted.
  package func repairedLock() throws(HistoryReadError) -> (HistoryLock?, HistoryLock.Repair?) {
    guard let bytes = try lockBytes() else { return (nil, nil) }
    do throws(LockError) {
      do throws(LockError) {
        let (lock, repair) = try HistoryLock.repairing(bytes)
        return (lock, repair)
      } catch  where error.kind == .duplicate {
        let (lock, repair) = try HistoryLock.repairing(bytes, advice: disputeAdvice(bytes))
        return (lock, repair)
      }
    } catch {
      throw .brokenLock(file: lockFile, error)
    }
  }

  /// What to do when both sides of a conflict froze a migration with one number: those of the side that
  /// is not upstream move, all of them, because a later one may need an earlier one.
  private func disputeAdvice(_ bytes: [UInt8]) -> String? {
    guard let (ours, theirs) = try? HistoryLock.conflictSides(bytes),
      let others = try? OtherRevisions(of: self, lock: nil), let operation = others.operation
    else { return nil }
    let side = operation.upstreamSide
    let (upstream, other) = side == "--theirs" ? (theirs, ours) : (ours, theirs)
    let moving = other.entries.filter { !upstream.contains($0.id) }.map(\.id)
    let released = moving.filter(others.releasedIDs.contains)
    guard released.isEmpty else {
      return
        "\(released.joined(separator: ", ")) is released by a tag and cannot get another number"
    }
    let file = shellQuoted(lockFile)
    return
      "take the lock of the side that is upstream (`git checkout \(side) -- \(file) && git add "
      + "\(file)`), renumber the migrations of the other one (`\(rebaseCommand(moving))`) and freeze "
      + "them again"
  }

  private func joinedLock() -> HistoryLock? { ((try? repairedLock()) ?? (nil, nil)).0 }

  /// The ids that must not be renumbered: those of the lock, of both sides of a merge conflict, and those
  /// that other revisions have frozen.
  package func frozenIDs() throws(HistoryReadError) -> Set<ExactText> {
    let lock = try repairedLock().0
    return Set((lock?.entries ?? []).map(\.id.exact)).union(keptIDs(lock))
  }

  /// The ids that other revisions have frozen, as far as git can tell.
  package func keptIDs(_ lock: HistoryLock?) -> Set<ExactText> {
    (try? OtherRevisions(of: self, lock: lock).keptIDs) ?? []
  }

  func lockBytes() throws(HistoryReadError) -> [UInt8]? {
    do throws(FileError) {
      do throws(FileError) {
        return try readFile(lockFile, limit: 64 * 1_048_576)
      } catch  where error.systemError == ENOENT {
        // A link to nothing is no missing lock: it would make drafts of what is frozen.
        if try somethingExists(at: lockFile) { throw error }
        return nil
      }
    } catch {
      throw .unreadable(error)
    }
  }

  package func write(_ lock: HistoryLock) throws(FileError) {
    try writeFileAtomically(lock.rendered(), to: lockFile)
  }
}

/// A name in the folder that is, or was meant to be, a manifest's.
struct ManifestName: Sendable {
  let text: String
  /// The name without its ending.
  let id: String
  /// Nil when the name can be a manifest's.
  let problem: String?

  /// Nil for every other name.
  init?(_ bytes: [UInt8]) {
    // What editors (lock files) and macOS (attributes) put beside a file has the same ending.
    if bytes.starts(with: ".#".utf8) || bytes.starts(with: "._".utf8) { return nil }
    let ending = bytes.dropFirst(bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.count)
    guard [".yaml", ".yml"].contains(where: { ending.hasSameLetters(as: $0) }) else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
    id = String(decoding: bytes.dropLast(ending.count), as: UTF8.self)
    if String(validating: bytes, as: UTF8.self) == nil {
      problem = "the name is not UTF-8"
    } else if !ending.elementsEqual(".yaml".utf8) {
      problem = "rename it to \(id).yaml: manifests end in .yaml"
    } else {
      problem = History.problem(ofMigrationID: id)
    }
  }
}

private func isManifest(_ name: [UInt8]) -> Bool {
  ManifestName(name).map { $0.problem == nil } ?? false
}

/// Whether a name ends in `.sql`, in letters of any case, and is not one that editors (lock files) or
/// macOS (attributes) put beside a file.
func isSQLFile(_ name: [UInt8]) -> Bool {
  name.count > 4 && name.suffix(4).hasSameLetters(as: ".sql") && !name.starts(with: ".#".utf8)
    && !name.starts(with: "._".utf8)
}

extension Collection<UInt8> {
  /// - Parameter word: in lower case.
  fileprivate func hasSameLetters(as word: String) -> Bool {
    lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.elementsEqual(word.utf8)
  }
}
