/// A column of a table, as its records hold it.
package struct StoredColumn: Sendable {
  /// Its place in a record, counted from 0: virtual generated columns have none.
  let place: Int
  /// Another name of the rowid: what the record holds in its place means nothing.
  let isRowid: Bool
  /// Numbers without a fraction may be stored as integers.
  let isReal: Bool
  /// What it has in rows that are older than the column; nil where there can be none.
  let inOlderRows: StoredValue?

  package init(place: Int, isRowid: Bool, isReal: Bool, inOlderRows: StoredValue?) {
    self.place = place
    self.isRowid = isRowid
    self.isReal = isReal
    self.inOlderRows = inOlderRows
  }
}

/// A value the way records hold it: a serial type and bytes (Database File Format, section 2.1).
package struct StoredValue: Sendable {
  let type: UInt64
  let bytes: [UInt8]

  package static let null = StoredValue(type: 0, bytes: [])

  /// - Parameter isText: the value is a text's bytes.
  package init(_ value: Value, isText: Bool) {
    switch value {
    case .null: self = .null
    case .integer(let integer):
      self.init(type: 6, bytes: Self.bytes(UInt64(bitPattern: integer)))
    case .real(let real): self.init(type: 7, bytes: Self.bytes(real.bitPattern))
    case .text(let text): self.init(.blob(Array(text.utf8)), isText: true)
    case .blob(let bytes):
      self.init(type: UInt64(12 + 2 * bytes.count + (isText ? 1 : 0)), bytes: bytes)
    }
  }

  private init(type: UInt64, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }

  private static func bytes(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
  }

  /// Of a serial type, in bytes.
  static func size(ofType type: UInt64) -> Int {
    switch type {
    case 0, 8, 9, 10, 11: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    default: Int(clamping: (type - 12) / 2)
    }
  }
}
