/// A number that tells values apart, each along with what tells its row apart. Every step can be undone, so
/// that values that differ in one word never come to the same.
struct Hash {
  private var state: UInt64 = 0x243F_6A88_85A3_08D3

  @inline(__always)
  private mutating func mix(_ word: UInt64) {
    state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
    state ^= state >> 32
  }

  /// Each storage class has its own factor.
  @inline(__always)
  private mutating func mix(_ word: UInt64, times factor: UInt64) {
    state = (state ^ word) &* factor
    state ^= state >> 32
  }

  @inline(__always)
  mutating func mix(_ integer: Int64) {
    mix(UInt64(bitPattern: integer), times: 0xD6E8_FEB8_6659_FD93)
  }

  @inline(__always)
  mutating func mix(_ real: Double) { mix(real.bitPattern, times: 0xA076_1D64_78BD_642F) }

  @inline(__always)
  mutating func mixNull() { mix(0, times: 0xE703_7ED1_A0B4_28DB) }

  @inline(__always)
  mutating func mix(text: UnsafeRawBufferPointer) {
    mix(UInt64(text.count), times: 0x8EBC_6AF0_9C88_C6E3)
    mix(text)
  }

  @inline(__always)
  mutating func mix(blob: UnsafeRawBufferPointer) {
    mix(UInt64(blob.count), times: 0x5899_65CC_7537_4CC3)
    mix(blob)
  }

  /// Bytes whose number has been mixed.
  @inline(__always)
  private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    let size = MemoryLayout<UInt64>.size
    var offset = 0
    while offset + size <= bytes.count {
      mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += size
    }
    let left = bytes.count - offset
    guard left > 0 else { return }
    if bytes.count >= size {
      // Some bytes twice.
      mix(bytes.loadUnaligned(fromByteOffset: bytes.count - size, as: UInt64.self))
    } else {
      var rest: UInt64 = 0
      for byte in bytes { rest = rest << 8 | UInt64(byte) }
      mix(rest)
    }
  }

  /// For a start that values of the same row share.
  @inline(__always)
  mutating func scatter() { state = finished }

  /// Every bit of the input in every bit, because sums are made of it.
  @inline(__always)
  var finished: UInt64 {
    let word = (state ^ state >> 29) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }
}
