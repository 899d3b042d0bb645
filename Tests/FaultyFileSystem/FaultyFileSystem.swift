import Foundation
import SchemaCSQLite

/// An SQLite file system (`sqlite3_vfs`) that passes every call to the machine's own after an
/// observer has allowed it.
///
/// There is one for the process. While it is installed, every new connection uses it; open
/// connections keep their file system.
package final class FaultyFileSystem: @unchecked Sendable {
  package typealias Observer = (FileCall) -> Decision

  package static let shared = FaultyFileSystem()

  /// Serialises calls of several threads. Calls that the observer itself causes pass without it.
  private let lock = NSRecursiveLock()
  private var observer: Observer?
  private var device: Device?
  private var isObserving = false

  private let real: UnsafeMutablePointer<sqlite3_vfs>
  private let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
  private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)

  private init() {
    guard let real = sqlite3_vfs_find(nil) else { fatalError("SQLite has no file system") }
    self.real = real
    methods.initialize(to: .faulty)
    // Methods that are not replaced use only the fields of `vfs`, so they can remain unchanged.
    vfs.initialize(to: real.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.zName = UnsafePointer(strdup("faulty"))
    vfs.pointee.szOsFile += Int32(MemoryLayout<FaultyFile>.stride)
    vfs.pointee.xOpen = { _, name, file, flags, outFlags in
      FaultyFileSystem.shared.open(name, file, flags, outFlags)
    }
    vfs.pointee.xDelete = { _, name, syncsFolder in
      FaultyFileSystem.shared.ask(name, .delete(syncsFolder: syncsFolder != 0)) {
        $0.pointee.xDelete($0, name, syncsFolder)
      }
    }
    vfs.pointee.xAccess = { _, name, flags, result in
      FaultyFileSystem.shared.ask(name, .access) { $0.pointee.xAccess($0, name, flags, result) }
    }
  }

  /// Installs it as the default of the process.
  ///
  /// - Parameters:
  ///   - device: the properties that the disk claims; nil for those of the machine's file system.
  ///   - observer: called before every call; nil allows all of them.
  package func install(device: Device? = nil, _ observer: Observer? = nil) {
    lock.withLock {
      self.device = device
      self.observer = observer
    }
    sqlite3_vfs_register(vfs, 1)
  }

  /// Restores the machine's own file system as the default. Open connections are no longer
  /// observed.
  package func uninstall() {
    sqlite3_vfs_register(real, 1)
    sqlite3_vfs_unregister(vfs)
    lock.withLock {
      device = nil
      observer = nil
    }
  }

  var claims: Device? { lock.withLock { device } }

  func decide(_ call: FileCall) -> Decision {
    lock.withLock {
      guard let observer, !isObserving else { return .pass }
      isObserving = true
      defer { isObserving = false }
      return observer(call)
    }
  }

  // MARK: Calls with the name of a file

  private func ask(
    _ name: UnsafePointer<CChar>?, _ action: FileCall.Action,
    _ done: (UnsafeMutablePointer<sqlite3_vfs>) -> Int32
  ) -> Int32 {
    let path = name.map { String(cString: $0) } ?? ""
    switch decide(FileCall(path: path, role: .init(path: path), action: action)) {
    case .pass: return done(real)
    case .pretend: return SQLITE_OK
    case .fail(let code): return code
    }
  }

  private func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let file else { return SQLITE_MISUSE }
    // SQLite closes a file that has methods, even if it could not be opened.
    file.pointee.pMethods = nil
    let path = name.map { String(cString: $0) } ?? ""
    let isNew = flags & SQLITE_OPEN_CREATE != 0 && (path.isEmpty || access(path, F_OK) != 0)
    let role = FileCall.Role(flags: flags)
    if case .fail(let code) = decide(
      FileCall(path: path, role: role, action: .open(isNew: isNew)))
    {
      return code
    }
    let inner = FaultyFile.inner(file)
    inner.pointee.pMethods = nil
    let code = real.pointee.xOpen(real, name, inner, flags, outFlags)
    guard code == SQLITE_OK else {
      if let methods = inner.pointee.pMethods { _ = methods.pointee.xClose(inner) }
      return code
    }
    FaultyFile.initialize(file, methods, OpenFile(path: path, role: role))
    return SQLITE_OK
  }
}

extension FileCall.Role {
  /// The role of a file, from the flags of SQLite's open call.
  fileprivate init(flags: Int32) {
    self =
      if flags & SQLITE_OPEN_MAIN_DB != 0 {
        .main
      } else if flags & SQLITE_OPEN_MAIN_JOURNAL != 0 {
        .journal
      } else if flags & SQLITE_OPEN_WAL != 0 {
        .wal
      } else if flags & SQLITE_OPEN_SUPER_JOURNAL != 0 {
        .superJournal
      } else {
        .temporary
      }
  }

  /// The role of a file that is not open, from its name.
  fileprivate init(path: String) {
    self =
      if path.hasSuffix("-journal") {
        .journal
      } else if path.hasSuffix("-wal") {
        .wal
      } else if path.hasSuffix("-shm") {
        .sharedMemory
      } else if path.contains("-mj") {
        .superJournal
      } else {
        .main
      }
  }
}
