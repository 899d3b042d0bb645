/// What SQLite is about to ask of the file system, before it is done.
package struct FileCall {
  package enum Role: String, Sendable, CaseIterable {
    case main, journal, wal, temporary
    /// The journal that ties several databases together: a migration never makes one.
    case superJournal = "super-journal"
    /// The index of the WAL, which processes share: asked for through the main file.
    case sharedMemory = "shared memory"
  }

  package enum Action {
    case open(isNew: Bool)
    case close
    case read(offset: Int, count: Int)
    /// The bytes are there only while the observer looks.
    case write(offset: Int, bytes: UnsafeRawBufferPointer)
    case truncate(size: Int)
    case sync
    case size
    /// To `SQLITE_LOCK_…`.
    case lock(level: Int32)
    case unlock(level: Int32)
    case checkReservedLock
    /// The file goes, and its folder is synced with it, or not.
    case delete(syncsFolder: Bool)
    case access
    case map
    /// `SQLITE_SHM_…`, that is lock or unlock, shared or exclusive.
    case lockMap(flags: Int32)
    /// Always done.
    case barrier
    case unmap
  }

  /// Empty for a temporary file without a name.
  package let path: String
  package let role: Role
  package let action: Action
}

extension FileCall.Action {
  /// `write`, as a table of faults calls it.
  package var name: String {
    switch self {
    case .open: "open"
    case .close: "close"
    case .read: "read"
    case .write: "write"
    case .truncate: "truncate"
    case .sync: "sync"
    case .size: "size"
    case .lock: "lock"
    case .unlock: "unlock"
    case .checkReservedLock: "check of a lock"
    case .delete: "delete"
    case .access: "access"
    case .map: "map"
    case .lockMap(let flags): flags & 1 == 0 ? "lock" : "unlock"
    case .barrier: "barrier"
    case .unmap: "unmap"
    }
  }
}

/// What becomes of a call.
package enum Decision {
  /// It is done.
  case pass
  /// It is not done, and SQLite gets this code. `close` and `barrier` are done nevertheless: they
  /// cannot fail.
  case fail(Int32)
  /// It is not done, and SQLite is told that it was: a disk that lies, or one that need not be
  /// waited for. Not for `open`, `read`, `size`, `access` and `map`, which have something to give.
  case pretend
}

/// What a disk claims of itself (`xSectorSize`, `xDeviceCharacteristics`).
package struct Device: Sendable {
  package let sectorSize: Int
  /// A write that a power cut interrupts changes no byte outside its range.
  package let isPowersafe: Bool

  package init(sectorSize: Int, isPowersafe: Bool) {
    self.sectorSize = sectorSize
    self.isPowersafe = isPowersafe
  }
}
