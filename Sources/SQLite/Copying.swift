import SchemaCSQLite

extension Connection {
  /// Copies the whole database into `destination` (Online Backup API).
  ///
  /// - Parameters:
  ///   - pages: pages copied between two calls of `progress`; less than 1 copies all at once.
  ///   - first: the same for the first call, by which the destination is locked for writing; 0
  ///     does nothing but that.
  ///   - progress: gets the pages left and the pages in all; false stops the copy.
  /// - Throws: `DatabaseError`; with the code `interrupted` when `progress` said so.
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

  /// The database's pages as one array of bytes (`sqlite3_serialize`).
  package func serialized() throws(DatabaseError) -> [UInt8] {
    var size: sqlite3_int64 = 0
    guard let start = sqlite3_serialize(handle, "main", &size, 0) else {
      let code = sqlite3_errcode(handle)
      guard [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code) else { throw error(code) }
      // SQLite gives no address for a database without pages, too.
      if size == 0 { return [] }
      throw DatabaseError(nil, code: SQLITE_NOMEM)
    }
    defer { sqlite3_free(start) }
    return [UInt8](UnsafeBufferPointer(start: start, count: Int(size)))
  }

  /// Makes the connection a private copy in memory of a database that `serialized()` gave.
  package func deserialize(_ bytes: [UInt8]) throws(DatabaseError) {
    let size = sqlite3_int64(bytes.count)
    // No bytes are a database, too: an empty one.
    guard let memory = sqlite3_malloc64(sqlite3_uint64(max(size, 1))) else {
      throw DatabaseError(nil, code: SQLITE_NOMEM)
    }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    // A database in memory has no WAL and cannot be read in that mode (Database File Format, 1.3.3).
    if bytes.count >= 100, bytes[18] == 2 {
      memory.storeBytes(of: 1, toByteOffset: 18, as: UInt8.self)
      memory.storeBytes(of: 1, toByteOffset: 19, as: UInt8.self)
    }
    let code = sqlite3_deserialize(
      handle, "main", memory.assumingMemoryBound(to: UInt8.self), size, size,
      UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
    guard code == SQLITE_OK else { throw error(code) }
    // The limit of pages went with the database that was there.
    if let timer = stopCheck?.timer { try limitWork(to: timer.limit) }
  }
}
