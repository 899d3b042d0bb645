import SchemaCSQLite

/// Information about an open file.
final class OpenFile {
  let path: String
  let role: FileCall.Role

  init(path: String, role: FileCall.Role) {
    self.path = path
    self.role = role
  }
}

/// The memory that SQLite allocates for a file: this structure, followed by that of the real file
/// system.
struct FaultyFile {
  typealias Pointer = UnsafeMutablePointer<sqlite3_file>

  private var base: sqlite3_file
  private let file: Unmanaged<OpenFile>

  static func initialize(
    _ file: Pointer, _ methods: UnsafePointer<sqlite3_io_methods>, _ open: OpenFile
  ) {
    UnsafeMutableRawPointer(file).initializeMemory(
      as: FaultyFile.self,
      to: FaultyFile(base: sqlite3_file(pMethods: methods), file: .passRetained(open)))
  }

  static func inner(_ file: Pointer) -> Pointer {
    UnsafeMutableRawPointer(file).advanced(by: MemoryLayout<FaultyFile>.stride)
      .assumingMemoryBound(to: sqlite3_file.self)
  }

  private static func state(_ file: Pointer) -> Unmanaged<OpenFile> {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultyFile.self).pointee.file
  }

  fileprivate static func decide(
    _ file: Pointer, _ action: FileCall.Action, _ role: FileCall.Role?
  ) -> Decision {
    let open = state(file).takeUnretainedValue()
    return FaultyFileSystem.shared.decide(
      FileCall(path: open.path, role: role ?? open.role, action: action))
  }

  fileprivate static func close(_ file: Pointer) -> Int32 {
    _ = decide(file, .close, nil)
    state(file).release()
    file.pointee.pMethods = nil
    let inner = inner(file)
    return inner.pointee.pMethods.map { $0.pointee.xClose(inner) } ?? SQLITE_OK
  }
}

/// - Parameter done: calls the method of the real file.
private func ask(
  _ file: FaultyFile.Pointer?, _ action: FileCall.Action, role: FileCall.Role? = nil,
  _ done: (FaultyFile.Pointer, sqlite3_io_methods) -> Int32
) -> Int32 {
  guard let file else { return SQLITE_MISUSE }
  switch FaultyFile.decide(file, action, role) {
  case .pass: return passed(file, done)
  case .pretend: return SQLITE_OK
  case .fail(let code): return code
  }
}

private func passed(
  _ file: FaultyFile.Pointer?, _ done: (FaultyFile.Pointer, sqlite3_io_methods) -> Int32
) -> Int32 {
  guard let inner = file.map(FaultyFile.inner), let methods = inner.pointee.pMethods else {
    return SQLITE_MISUSE
  }
  return done(inner, methods.pointee)
}

extension sqlite3_io_methods {
  /// Without `xFetch`, because reads of a memory-mapped file would not be observed.
  static var faulty: sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 2
    methods.xClose = { file in file.map(FaultyFile.close) ?? SQLITE_OK }
    methods.xRead = { file, buffer, count, offset in
      ask(file, .read(offset: Int(offset), count: Int(count))) {
        $1.xRead($0, buffer, count, offset)
      }
    }
    methods.xWrite = { file, buffer, count, offset in
      let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
      return ask(file, .write(offset: Int(offset), bytes: bytes)) {
        $1.xWrite($0, buffer, count, offset)
      }
    }
    methods.xTruncate = { file, size in
      ask(file, .truncate(size: Int(size))) { $1.xTruncate($0, size) }
    }
    methods.xSync = { file, flags in ask(file, .sync) { $1.xSync($0, flags) } }
    methods.xFileSize = { file, size in ask(file, .size) { $1.xFileSize($0, size) } }
    methods.xLock = { file, level in ask(file, .lock(level: level)) { $1.xLock($0, level) } }
    methods.xUnlock = { file, level in ask(file, .unlock(level: level)) { $1.xUnlock($0, level) } }
    methods.xCheckReservedLock = { file, result in
      ask(file, .checkReservedLock) { $1.xCheckReservedLock($0, result) }
    }
    methods.xFileControl = { file, operation, argument in
      passed(file) { $1.xFileControl($0, operation, argument) }
    }
    methods.addDevice()
    methods.addSharedMemory()
    return methods
  }

  private mutating func addDevice() {
    xSectorSize = { file in
      FaultyFileSystem.shared.claims.map { Int32($0.sectorSize) }
        ?? passed(file) { $1.xSectorSize($0) }
    }
    xDeviceCharacteristics = { file in
      FaultyFileSystem.shared.claims.map { $0.isPowersafe ? SQLITE_IOCAP_POWERSAFE_OVERWRITE : 0 }
        ?? passed(file) { $1.xDeviceCharacteristics($0) }
    }
  }

  private mutating func addSharedMemory() {
    xShmMap = { file, region, size, extends, memory in
      ask(file, .map, role: .sharedMemory) { $1.xShmMap($0, region, size, extends, memory) }
    }
    xShmLock = { file, offset, count, flags in
      ask(file, .lockMap(flags: flags), role: .sharedMemory) {
        $1.xShmLock($0, offset, count, flags)
      }
    }
    xShmBarrier = { file in
      guard let file else { return }
      _ = FaultyFile.decide(file, .barrier, .sharedMemory)
      _ = passed(file) {
        $1.xShmBarrier($0)
        return SQLITE_OK
      }
    }
    xShmUnmap = { file, deletes in
      ask(file, .unmap, role: .sharedMemory) { $1.xShmUnmap($0, deletes) }
    }
  }
}
