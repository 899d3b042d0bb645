import CSQLite

/// What the values of some rows add up to: equal for the same values in the same rows, in whatever
/// order they are read.
///
/// A sum of hashes, modulo 2^64. It finds accidents; it does not withstand somebody who looks for
/// other rows with the same sum.
package struct Checksum: Sendable, Hashable {
  fileprivate var sum: UInt64 = 0

  /// How many values one call of the aggregate takes beside the row's identity (Limits In SQLite:
  /// 127 arguments).
  package static let valuesAtOnce = 126

  /// Of no rows.
  package init() {}

  private init(sum: UInt64) { self.sum = sum }

  /// Of the rows of both.
  package static func + (a: Checksum, b: Checksum) -> Checksum {
    Checksum(sum: a.sum &+ b.sum)
  }

  @inline(__always)
  mutating func add(_ hash: Hash) { sum &+= hash.finished }

  /// What `schemactl_checksum()` gave for `count` values; of no rows it gives nothing.
  package static func list(_ count: Int, from value: Value) -> [Checksum] {
    guard case .blob(let bytes) = value, bytes.count == count * MemoryLayout<Checksum>.stride else {
      return Array(repeating: Checksum(), count: count)
    }
    return bytes.withUnsafeBytes { bytes in
      (0..<count).map { index in
        Checksum(
          sum: bytes.loadUnaligned(
            fromByteOffset: index * MemoryLayout<Checksum>.stride, as: UInt64.self))
      }
    }
  }
}

extension Connection {
  /// Makes two functions work while `body` runs, and no longer: no migration can call them.
  ///
  /// - The aggregate `schemactl_checksum(row, value, …)` gives a checksum for each value, read with
  ///   `Checksum.list`. `row` tells the row from all others, so that values that change places show.
  /// - `schemactl_row(value, …)` makes one number of several values, to be such a `row`.
  ///
  /// Values are told apart as they are stored: by storage class, and byte for byte in the encoding
  /// of the database, whether or not a text is valid in it.
  package func withChecksums<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    let checksums = try registeredChecksums()
    checksums.isOn = true
    defer { checksums.isOn = false }
    return try body()
  }

  /// Registers the functions for good: while full-text search keeps a statement open, no function can
  /// be removed.
  private func registeredChecksums() throws(DatabaseError) -> ChecksumSwitch {
    if let checksums { return checksums }
    let new = ChecksumSwitch()
    // Not for the views and triggers of a schema.
    let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC
    let data = Unmanaged.passUnretained(new).toOpaque()
    var code = sqlite3_create_function_v2(
      handle, "schemactl_checksum", -1, flags, data, nil, addRow, giveChecksums, nil)
    guard code == SQLITE_OK else { throw error(code) }
    code = sqlite3_create_function_v2(
      handle, "schemactl_row", -1, flags, data, giveIdentity, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
    checksums = new
    return new
  }
}

/// Whether the functions may be called.
final class ChecksumSwitch {
  fileprivate var isOn = false

  /// Makes the call an error where they may not.
  fileprivate static func refuses(_ context: OpaquePointer?) -> Bool {
    guard let data = sqlite3_user_data(context),
      !Unmanaged<ChecksumSwitch>.fromOpaque(data).takeUnretainedValue().isOn
    else { return false }
    sqlite3_result_error(context, "this function is schemactl's own", -1)
    return true
  }
}

/// What the aggregate keeps between rows: how many values a row has, and their sums behind it.
private struct Sums {
  private static let header = MemoryLayout<Int>.stride

  private let start: UnsafeMutableRawPointer

  /// - Parameter count: 0 finds what is there already.
  init?(in context: OpaquePointer?, count: Int) {
    let size = count == 0 ? 0 : Self.header + count * MemoryLayout<Checksum>.stride
    guard let start = sqlite3_aggregate_context(context, Int32(size)) else { return nil }
    self.start = start
    if count > 0 { start.storeBytes(of: count, as: Int.self) }
  }

  var all: UnsafeMutableBufferPointer<Checksum> {
    UnsafeMutableBufferPointer(
      start: (start + Self.header).assumingMemoryBound(to: Checksum.self),
      count: start.load(as: Int.self))
  }
}

/// The aggregate's step.
private let addRow:
  @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard !ChecksumSwitch.refuses(context), count > 1, let values else { return }
    var row = Hash()
    guard let sums = Sums(in: context, count: Int(count) - 1), row.mix(values[0]) else {
      return sqlite3_result_error_nomem(context)
    }
    row.scatter()
    let all = sums.all
    for index in all.indices {
      var hash = row
      guard hash.mix(values[index + 1]) else { return sqlite3_result_error_nomem(context) }
      all[index].add(hash)
    }
  }

/// The aggregate's end.
private let giveChecksums: @convention(c) (OpaquePointer?) -> Void = { context in
  guard let sums = Sums(in: context, count: 0) else { return sqlite3_result_null(context) }
  let bytes = UnsafeRawBufferPointer(sums.all)
  sqlite3_result_blob64(
    context, bytes.baseAddress, UInt64(bytes.count), schemactl_transient())
}

private let giveIdentity:
  @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard !ChecksumSwitch.refuses(context) else { return }
    var hash = Hash()
    for index in 0..<Int(count) {
      guard hash.mix(values?[index]) else { return sqlite3_result_error_nomem(context) }
    }
    sqlite3_result_int64(context, Int64(bitPattern: hash.finished))
  }

extension Hash {
  /// - Returns: false when there was no memory to read the value.
  @inline(__always)
  fileprivate mutating func mix(_ value: OpaquePointer?) -> Bool {
    let storageClass = sqlite3_value_type(value)
    switch storageClass {
    case SQLITE_INTEGER: mix(sqlite3_value_int64(value))
    case SQLITE_FLOAT: mix(sqlite3_value_double(value))
    case SQLITE_NULL: mixNull()
    default:
      // The blob first: asked for a text, SQLite would convert it, and count the bytes of that.
      let start = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      guard start != nil || count == 0 else { return false }
      let bytes = UnsafeRawBufferPointer(start: start, count: count)
      if storageClass == SQLITE_TEXT { mix(text: bytes) } else { mix(blob: bytes) }
    }
    return true
  }
}
