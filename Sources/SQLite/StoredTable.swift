import CSQLite

/// The rows of a table with rowids, read out of the pages of its file, for their checksums: many times
/// as fast as SQL, by any thread, and while another connection has a transaction open, of which it
/// sees what has been flushed.
///
/// It knows sections 1.5, 1.6 and 2 of the Database File Format and nothing else. What it does not
/// expect there, damage for one, it leaves to SQLite.
///
/// One thread at a time may use it.
package final class StoredTable: @unchecked Sendable {
  private let connection: Connection
  private let root: UInt32
  private let columns: [StoredColumn]
  /// By their places in a record.
  private let fields: UnsafeMutableBufferPointer<Field>
  private let pageSize: Int
  /// Without what each page keeps for extensions.
  private let usableSize: Int
  private var pages: [UnsafeMutableRawPointer] = []
  /// A record that does not stand on one page.
  private var record: UnsafeMutableRawPointer?
  private var recordSize = 0
  /// Of an overflow chain.
  private let link: UnsafeMutableRawPointer
  /// How many pages may still be read: a sound file leads to none of its pages twice.
  private var pagesLeft: Int64 = 0
  private var rowids: ClosedRange<Int64> = 0...0
  private let sums: UnsafeMutableBufferPointer<Checksum>
  private var rows: Int64 = 0

  private struct Field {
    /// Which one of the columns; -1 for none.
    var column = -1
    var isRowid = false
    var isReal = false
  }

  /// SQLite's own limit (btreeInt.h, BTCURSOR_MAX_DEPTH).
  private static let deepest = 20

  /// In bytes: records that are longer are SQLite's, which can do without the memory.
  private static let longest = 1 << 20

  /// - Parameter connection: of the file, and used for nothing else. Where it must stop, there is no
  ///   answer.
  /// - Returns: nil for a file that cannot be read so.
  package init?(root: Int64, columns: [StoredColumn], in connection: Connection) {
    var header = [UInt8](repeating: 0, count: 24)
    guard let root = UInt32(exactly: root),
      schemactl_read_file(connection.handle, &header, 24, 0) == SQLITE_OK
    else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    pageSize = size == 1 ? 65_536 : size
    usableSize = pageSize - Int(header[20])
    guard pageSize >= 512, usableSize >= 480 else { return nil }
    self.connection = connection
    self.root = root
    self.columns = columns
    link = .allocate(byteCount: pageSize, alignment: 8)
    fields = .allocate(capacity: (columns.map(\.place).max() ?? -1) + 1)
    fields.initialize(repeating: Field())
    for (index, column) in columns.enumerated() {
      fields[column.place] = Field(column: index, isRowid: column.isRowid, isReal: column.isReal)
    }
    sums = .allocate(capacity: columns.count)
    sums.initialize(repeating: Checksum())
  }

  deinit {
    pages.forEach { $0.deallocate() }
    sqlite3_free(record)
    link.deallocate()
    fields.deallocate()
    sums.deallocate()
  }

  /// How many rows there are with these rowids, and the checksum of each column: what
  /// `schemactl_checksum(rowid, …)` gives for them.
  ///
  /// - Returns: nil where only SQLite can tell.
  package func checksums(of rowids: ClosedRange<Int64>) -> (rows: Int64, columns: [Checksum])? {
    self.rowids = rowids
    rows = 0
    pagesLeft = schemactl_file_size(connection.handle) / Int64(pageSize)
    sums.update(repeating: Checksum())
    return visit(root, depth: 0) ? (rows, Array(sums)) : nil
  }

  // MARK: Pages

  private func visit(_ number: UInt32, depth: Int) -> Bool {
    guard depth < Self.deepest, number > 1 else { return false }
    if depth == pages.count { pages.append(.allocate(byteCount: pageSize, alignment: 8)) }
    let start = pages[depth]
    guard read(number, pageSize, into: start) else { return false }
    let page = Bytes(start: start, count: usableSize)
    switch page[0] {
    case 5: return visitChildren(of: page, depth)
    case 13: return addRows(of: page)
    default: return false
    }
  }

  private func read(_ number: UInt32, _ count: Int, into buffer: UnsafeMutableRawPointer) -> Bool {
    pagesLeft -= 1
    guard pagesLeft >= 0, !(connection.stopCheck?.mustStop() ?? false) else { return false }
    return schemactl_read_file(
      connection.handle, buffer, Int32(count), (Int64(number) - 1) * Int64(pageSize)) == SQLITE_OK
  }

  private func visitChildren(of page: Bytes, _ depth: Int) -> Bool {
    let header = 12
    let count = page.integer16(at: 3)
    guard header + 2 * count <= page.count else { return false }
    for cell in 0..<count {
      var place = page.integer16(at: header + 2 * cell)
      guard place + 4 <= page.count else { return false }
      let child = page.integer32(at: place)
      place += 4
      guard let last = page.varint(at: &place) else { return false }
      let key = Int64(bitPattern: last)
      if key < rowids.lowerBound { continue }
      guard visit(child, depth: depth + 1) else { return false }
      if key >= rowids.upperBound { return true }
    }
    return visit(page.integer32(at: 8), depth: depth + 1)
  }

  private func addRows(of page: Bytes) -> Bool {
    let header = 8
    let count = page.integer16(at: 3)
    guard header + 2 * count <= page.count else { return false }
    for cell in 0..<count {
      var place = page.integer16(at: header + 2 * cell)
      guard let size = page.varint(at: &place), let key = page.varint(at: &place),
        size <= 0x7FFF_FFFF
      else { return false }
      let rowid = Int64(bitPattern: key)
      if rowid < rowids.lowerBound { continue }
      if rowid > rowids.upperBound { break }
      let local = localSize(ofPayload: Int(size))
      guard place + local <= page.count else { return false }
      var payload = Bytes(start: page.start + place, count: local)
      if local < Int(size) {
        guard place + local + 4 <= page.count,
          let whole = gather(payload, of: Int(size), next: page.integer32(at: place + local))
        else { return false }
        payload = whole
      }
      guard addRow(rowid, payload) else { return false }
      rows += 1
    }
    return true
  }

  /// How much of a payload stands on the leaf.
  private func localSize(ofPayload size: Int) -> Int {
    let most = usableSize - 35
    guard size > most else { return size }
    let least = (usableSize - 12) * 32 / 255 - 23
    let wanted = least + (size - least) % (usableSize - 4)
    return wanted <= most ? wanted : least
  }

  /// Puts a payload together.
  ///
  /// - Parameter next: the first one of the pages that hold the rest of it.
  private func gather(_ start: Bytes, of size: Int, next: UInt32) -> Bytes? {
    guard size <= Self.longest else { return nil }
    if recordSize < size {
      sqlite3_free(record)
      record = sqlite3_malloc64(UInt64(size))
      recordSize = record == nil ? 0 : size
    }
    guard let record else { return nil }
    record.copyMemory(from: start.start, byteCount: start.count)
    var done = start.count
    var next = next
    while done < size {
      let count = min(size - done, usableSize - 4)
      guard next > 1, read(next, count + 4, into: link) else { return nil }
      (record + done).copyMemory(from: link + 4, byteCount: count)
      next = Bytes(start: link, count: 4).integer32(at: 0)
      done += count
    }
    return Bytes(start: record, count: size)
  }

  // MARK: Records

  private func addRow(_ rowid: Int64, _ record: Bytes) -> Bool {
    var row = Hash()
    row.mix(rowid)
    row.scatter()
    var place = 0
    guard let size = record.varint(at: &place), size <= record.count else { return false }
    let header = Int(size)
    var start = header
    for index in fields.indices {
      let field = fields[index]
      guard place < header else {
        guard addOlder(field, row, rowid, record.start) else { return false }
        continue
      }
      guard let type = record.varint(at: &place), place <= header else { return false }
      let size = StoredValue.size(ofType: type)
      guard size <= record.count - start else { return false }
      if field.column >= 0 {
        let value = Bytes(start: record.start + start, count: size)
        guard add(type, value, field, row, rowid) else { return false }
      }
      start += size
    }
    // Of a whole header the values are the whole rest.
    return place < header || start == record.count
  }

  /// A value of a row that is older than the column.
  private func addOlder(_ field: Field, _ row: Hash, _ rowid: Int64, _ none: UnsafeRawPointer)
    -> Bool
  {
    guard field.column >= 0 else { return true }
    guard let value = columns[field.column].inOlderRows else { return false }
    return value.bytes.withUnsafeBytes { bytes in
      // Of no bytes none is read.
      let bytes = Bytes(start: bytes.baseAddress ?? none, count: bytes.count)
      return add(value.type, bytes, field, row, rowid)
    }
  }

  /// - Returns: false for what no version of SQLite writes.
  @inline(__always)
  private func add(
    _ type: UInt64, _ value: Bytes, _ field: Field, _ row: Hash, _ rowid: Int64
  ) -> Bool {
    var hash = row
    switch type {
    // Whatever stands there: SQLite does not look.
    case _ where field.isRowid: hash.mix(rowid)
    case 0: hash.mixNull()
    case 1...6: hash.mix(value.signed, isReal: field.isReal)
    case 7:
      let number = Double(bitPattern: UInt64(bitPattern: value.signed))
      if number.isNaN { hash.mixNull() } else { hash.mix(number) }
    case 8: hash.mix(0, isReal: field.isReal)
    case 9: hash.mix(1, isReal: field.isReal)
    case 10, 11: return false
    default:
      let bytes = UnsafeRawBufferPointer(start: value.start, count: value.count)
      if type & 1 == 0 { hash.mix(blob: bytes) } else { hash.mix(text: bytes) }
    }
    sums[field.column].add(hash)
    return true
  }
}

extension Hash {
  @inline(__always)
  fileprivate mutating func mix(_ integer: Int64, isReal: Bool) {
    if isReal { mix(Double(integer)) } else { mix(integer) }
  }
}

/// Bytes of a page or a record, with numbers the way the file has them: the highest byte first.
private struct Bytes {
  let start: UnsafeRawPointer
  let count: Int

  subscript(index: Int) -> UInt8 { start.load(fromByteOffset: index, as: UInt8.self) }

  func integer16(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }

  func integer32(at index: Int) -> UInt32 {
    UInt32(bigEndian: start.loadUnaligned(fromByteOffset: index, as: UInt32.self))
  }

  /// All of it as one number, at most 8 bytes.
  var signed: Int64 {
    guard count > 0 else { return 0 }
    var value = Int64(Int8(bitPattern: self[0]))
    for index in 1..<count { value = value << 8 | Int64(self[index]) }
    return value
  }

  /// The number at a place, which is moved behind it; nil when it does not end within the bytes.
  @inline(__always)
  func varint(at place: inout Int) -> UInt64? {
    guard place < count else { return nil }
    let first = self[place]
    place += 1
    if first < 0x80 { return UInt64(first) }
    var value = UInt64(first & 0x7F)
    for index in 1..<9 {
      guard place < count else { return nil }
      let byte = self[place]
      place += 1
      if index == 8 { return value << 8 | UInt64(byte) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { break }
    }
    return value
  }
}
