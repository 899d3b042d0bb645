/// A call of the file system by SQLite, before it is executed.
package struct FileCall {
  package enum Role: String, Sendable, CaseIterable {
    case main, journal, wal, temporary
    /// The journal for transactions over several databases, which migrations never create.
    case superJournal = "super-journal"
    /// The index of the WAL, which processes share. It is accessed through the main file.
    case sharedMemory = "shared memory"
  }

  package enum Action {
    case open(isNew: Bool)
    case close
    case read(offset: Int, count: Int)
    /// The bytes are valid only during the observer's call.
    case write(offset: Int, bytes: UnsafeRawBufferPointer)
    case truncate(size: Int)
    case sync
    case size
    /// Changes the lock to `SQLITE_LOCK_…`.
    case lock(level: Int32)
    case unlock(level: Int32)
    case checkReservedLock
    /// Deletes the file, and syncs its folder if requested.
    case delete(syncsFolder: Bool)
    case access
    case map
    /// `SQLITE_SHM_…`: lock or unlock, shared or exclusive.
    case lockMap(flags: Int32)
    /// Always executed.
    case barrier
    case unmap
  }

  /// Empty for a temporary file without a name.
  package let path: String
  package let role: Role
  package let action: Action
}

extension FileCall.Action {
  /// The name of the call in a table of faults: `write`.
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

/// The decision about a call.
package enum Decision {
  /// Executes it.
  case pass
  /// Skips it and returns this code to SQLite. `close` and `barrier` are executed nevertheless,
  /// because they cannot fail.
  case fail(Int32)
  /// Skips it and reports success to SQLite: a disk that lies, or a sync that is not needed. Not
  /// for `open`, `read`, `size`, `access` and `map`, which return data.
  case pretend
}

/// The properties that a disk claims (`xSectorSize`, `xDeviceCharacteristics`).
package struct Device: Sendable {
  package let sectorSize: Int
  /// Whether a write that a power failure interrupts changes no byte outside its range.
  package let isPowersafe: Bool

  package init(sectorSize: Int, isPowersafe: Bool) {
    self.sectorSize = sectorSize
    self.isPowersafe = isPowersafe
  }
}
