import SchemaCSQLite

extension Connection {
  /// Copies the whole database into `destination` (Online Backup API).
  ///
  /// - Parameters:
  ///   - pages: the number of pages between two calls of `progress`; less than 1 copies all at
  ///     once.
  ///   - first: the same for the first step, which locks the destination for writing; 0 only locks
  ///     it.
  ///   - progress: receives the numbers of remaining pages and of all pages; returns false to stop.
  /// - Throws: `DatabaseError`; with the code `interrupted` if `progress` stopped the copy.
  package func backup(
    to destination: Connection, pages: Int = -1, first: Int? = nil,
    progress: (_ left: Int, _ all: Int) -> Bool = { _, _ in true }
  ) throws(DatabaseError) {
    guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
      throw destination.error(sqlite3_errcode(destination.handle))
    }
    var code = SQLITE_OK
    let usual = pages < 1 ? -1 : Int32(clamping: pages)
    var count = first.map { Int32(clamping: $0) } ?? usual
    repeat {
      code = sqlite3_backup_step(backup, count)
      count = usual
      let left = Int(sqlite3_backup_remaining(backup))
      let all = Int(sqlite3_backup_pagecount(backup))
      if code == SQLITE_OK, !progress(left, all) { code = SQLITE_INTERRUPT }
    } while code == SQLITE_OK
    let finished = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE else {
      throw finished == SQLITE_OK
        ? DatabaseError(nil, code: code) : destination.error(finished)
    }
  }

  /// Returns the database's pages as bytes (`sqlite3_serialize`).
  package func serialized() throws(DatabaseError) -> [UInt8] {
    var size: sqlite3_int64 = 0
    guard let start = sqlite3_serialize(handle, "main", &size, 0) else {
      let code = sqlite3_errcode(handle)
      guard [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code) else { throw error(code) }
      // SQLite also returns no address for a database without pages.
      if size == 0 { return [] }
      throw DatabaseError(nil, code: SQLITE_NOMEM)
    }
    defer { sqlite3_free(start) }
    return [UInt8](UnsafeBufferPointer(start: start, count: Int(size)))
  }

  /// Replaces the connection's database by an in-memory copy of bytes from `serialized()`.
  package func deserialize(_ bytes: [UInt8]) throws(DatabaseError) {
    let size = sqlite3_int64(bytes.count)
    // An empty array represents an empty database.
    guard let memory = sqlite3_malloc64(sqlite3_uint64(max(size, 1))) else {
      throw DatabaseError(nil, code: SQLITE_NOMEM)
    }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    // An in-memory database has no WAL and cannot be read in WAL mode (Database File Format,
    // 1.3.3).
    if bytes.count >= 100, bytes[18] == 2 {
      memory.storeBytes(of: 1, toByteOffset: 18, as: UInt8.self)
      memory.storeBytes(of: 1, toByteOffset: 19, as: UInt8.self)
    }
    let code = sqlite3_deserialize(
      handle, "main", memory.assumingMemoryBound(to: UInt8.self), size, size,
      UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
    guard code == SQLITE_OK else { throw error(code) }
    // Replacing the database reset its page limit.
    if let timer = stopCheck?.timer { try limitWork(to: timer.limit) }
  }
}
