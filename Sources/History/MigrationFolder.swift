import ManifestFormat
import SchemaModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One manifest of a folder.
package struct Migration: Sendable {
  /// The file name without `.yaml`.
  package let id: String
  package let number: MigrationNumber
  /// The path, beginning with the folder as it was named.
  package let file: String
  package let manifest: Manifest
  package let rawDigest: String
  package let canonicalDigest: String
  /// The file holds CR, which the raw digest passes over before LF.
  package let hasCarriageReturns: Bool

  package init(id: String, file: String, bytes: [UInt8], manifest: Manifest) {
    self.id = id
    number = MigrationNumber(id: id)
    self.file = file
    self.manifest = manifest
    rawDigest = History.rawDigest(of: bytes)
    canonicalDigest = SHA256.hex(manifest.canonicalForm)
    hasCarriageReturns = bytes.contains(carriageReturn)
  }
}

/// Why a history could not be read.
package enum HistoryReadError: Error, Sendable {
  /// The folder is not there.
  case missingFolder(path: String)
  /// The folder or the lock is there and cannot be read.
  case unreadable(FileError)
  /// Every problem of every manifest.
  case invalid(InvalidInput)
  case brokenLock(file: String, LockError)
}

/// A folder of manifests and their history lock.
package struct MigrationFolder: Sendable, Hashable {
  package typealias Decoder = (_ bytes: [UInt8], _ file: String) throws(InvalidInput) -> Manifest

  /// A larger manifest is not read.
  package static let manifestSizeLimit = 8 * 1_048_576

  package let path: String

  package init(_ path: String) {
    self.path = path
  }

  /// Where the manifest with this id is, or would be.
  package func file(ofMigration id: String) -> String { joinedPath(path, id + ".yaml") }

  /// Every manifest, in the order of their numbers. An empty folder is a history without migrations.
  package func migrations(decode: Decoder) throws(HistoryReadError) -> [Migration] {
    let names = try namesToRead()
    var migrations: [Migration] = []
    var diagnostics = diagnosticsOfNames(names)
    for name in names where !name.isRefused {
      do throws(InvalidInput) {
        migrations.append(try migration(named: name, decode))
      } catch {
        diagnostics += error.diagnostics
      }
    }
    guard diagnostics.isEmpty else {
      throw .invalid(InvalidInput(diagnostics.sorted(by: areInReadingOrder)))
    }
    return migrations.sorted { $0.number < $1.number }
  }

  // MARK: Names

  private struct Name {
    let text: String
    /// The name without its ending.
    let id: String
    /// Nil when the name can be a manifest's.
    let problem: String?

    var isRefused: Bool { problem != nil }

    init?(_ bytes: [UInt8]) {
      // What editors (lock files) and macOS (attributes) put beside a file has the same ending.
      if bytes.starts(with: ".#".utf8) || bytes.starts(with: "._".utf8) { return nil }
      let ending = bytes.dropFirst(bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.count)
      guard ending.elementsEqual(".yaml".utf8) || ending.elementsEqual(".yml".utf8) else {
        return nil
      }
      text = String(decoding: bytes, as: UTF8.self)
      id = String(decoding: bytes.dropLast(ending.count), as: UTF8.self)
      if String(validating: bytes, as: UTF8.self) == nil {
        problem = "the name is not UTF-8"
      } else if ending.elementsEqual(".yml".utf8) {
        problem = "rename it to \(id).yaml: manifests end in .yaml"
      } else {
        problem = History.problem(ofMigrationID: id)
      }
    }
  }

  private func namesToRead() throws(HistoryReadError) -> [Name] {
    do throws(FileError) {
      return try folderNames(path).compactMap(Name.init)
    } catch {
      throw error.systemError == ENOENT ? .missingFolder(path: path) : .unreadable(error)
    }
  }

  private func diagnosticsOfNames(_ names: [Name]) -> [Diagnostic] {
    var firstOfNumber: [MigrationNumber: Name] = [:]
    var diagnostics: [Diagnostic] = []
    for name in names {
      let file = joinedPath(path, name.text)
      if let problem = name.problem {
        diagnostics.append(Diagnostic(file: file, message: problem))
        continue
      }
      let number = MigrationNumber(id: name.id)
      guard let first = firstOfNumber[number] else {
        firstOfNumber[number] = name
        continue
      }
      diagnostics.append(
        Diagnostic(
          file: file,
          message: "\(first.text) has the number \(number) too: give one of the two another number"
        ))
    }
    return diagnostics
  }

  // MARK: Files

  private func migration(
    named name: Name, _ decode: Decoder
  ) throws(InvalidInput) -> Migration {
    let file = joinedPath(path, name.text)
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try readManifest(file)
    } catch {
      throw InvalidInput([Diagnostic(file: file, message: error.message)])
    }
    return Migration(id: name.id, file: file, bytes: bytes, manifest: try decode(bytes, file))
  }

  private func readManifest(_ file: String) throws(FileError) -> [UInt8] {
    do throws(FileError) {
      return try readFile(file, limit: Self.manifestSizeLimit, followingLinks: false)
    } catch  where error.systemError == ELOOP {
      return try readFile(
        try targetOfLink(file), limit: Self.manifestSizeLimit, followingLinks: false)
    } catch {
      throw error
    }
  }

  private func targetOfLink(_ file: String) throws(FileError) -> String {
    let target: String
    do throws(FileError) {
      target = try resolvedPath(file)
    } catch {
      throw FileError(
        path: file, systemError: error.systemError,
        message: "is a link that leads nowhere: \(error.message)")
    }
    guard target.utf8.starts(with: joinedPath(try resolvedPath(path), "").utf8) else {
      throw FileError(
        path: file, systemError: EACCES,
        message: "is a link that leads out of the folder, to \(target): put the file itself here")
    }
    return target
  }

  // MARK: The lock

  package var lockFile: String { joinedPath(path, HistoryLock.fileName) }

  /// The history lock, nil when nothing has been frozen yet.
  package func lock() throws(HistoryReadError) -> HistoryLock? {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try readFile(lockFile, limit: 64 * 1_048_576)
    } catch {
      if error.systemError == ENOENT, !somethingExists(at: lockFile) { return nil }
      throw .unreadable(error)
    }
    do throws(LockError) {
      return try HistoryLock(parsing: bytes)
    } catch {
      throw .brokenLock(file: lockFile, error)
    }
  }

  package func write(_ lock: HistoryLock) throws(FileError) {
    try writeFileAtomically(lock.rendered(), to: lockFile)
  }
}

private func areInReadingOrder(_ a: Diagnostic, _ b: Diagnostic) -> Bool {
  let start = Position(line: 0, column: 0)
  return (a.file, a.position ?? start) < (b.file, b.position ?? start)
}
