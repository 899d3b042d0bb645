import SchemaTestSupport

/// The bytes of a database file, page by page (Database File Format, section 1).
struct DatabaseImage {
  enum PageKind: String, CaseIterable {
    case first = "first page"
    case tableInterior = "table interior page"
    case tableLeaf = "table leaf page"
    case indexInterior = "index interior page"
    case indexLeaf = "index leaf page"
    case overflow = "overflow page"
    case freelistTrunk = "freelist trunk page"
    case freelistLeaf = "freelist leaf page"
    case pointerMap = "pointer map page"
  }

  var bytes: [UInt8]
  let pageSize: Int
  /// The kinds of the pages. The index is the page number minus one.
  private(set) var kinds: [PageKind] = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    pageSize = size == 1 ? 65536 : size
    kinds = (0..<bytes.count / pageSize).map { kind(at: $0) }
    markFreelist()
    if number(at: 52) != 0 { markPointerMaps() }
  }

  func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

  func pages(_ kind: PageKind) -> [Int] { kinds.indices.filter { kinds[$0] == kind } }

  func range(ofPage page: Int) -> Range<Int> { page * pageSize..<(page + 1) * pageSize }

  private func kind(at page: Int) -> PageKind {
    if page == 0 { return .first }
    switch bytes[page * pageSize] {
    case 5: return .tableInterior
    case 13: return .tableLeaf
    case 2: return .indexInterior
    case 10: return .indexLeaf
    default: return .overflow
    }
  }

  private mutating func markFreelist() {
    var trunk = number(at: 32)
    while trunk > 0, trunk <= kinds.count, kinds[trunk - 1] != .freelistTrunk {
      kinds[trunk - 1] = .freelistTrunk
      let start = (trunk - 1) * pageSize
      for leaf in 0..<min(number(at: start + 4), pageSize / 4 - 2) {
        let page = number(at: start + 8 + 4 * leaf)
        if (1...kinds.count).contains(page) { kinds[page - 1] = .freelistLeaf }
      }
      trunk = number(at: start)
    }
  }

  private mutating func markPointerMaps() {
    for page in stride(from: 1, to: kinds.count, by: pageSize / 5 + 1) { kinds[page] = .pointerMap }
  }
}

/// Changes bytes in random ways.
struct ByteDamage {
  /// Descriptions of the changes so far, for reproduction.
  private(set) var story: [String] = []
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Makes a random change within `range`.
  mutating func strike(_ range: Range<Int>, using generator: inout SeededGenerator) {
    guard !range.isEmpty else { return }
    switch Int.random(in: 0..<5, using: &generator) {
    case 0, 1: flip(range, bits: 1, using: &generator)
    case 2: flip(range, bits: Int.random(in: 2...8, using: &generator), using: &generator)
    case 3:
      let start = Int.random(in: range, using: &generator)
      let count = Int.random(in: 1...64, using: &generator)
      overwrite(start..<min(range.upperBound, start + count), using: &generator)
    default:
      // The first bytes of a b-tree page determine how SQLite reads the rest.
      let head = range.prefix(24)
      flip(head, bits: Int.random(in: 1...2, using: &generator), using: &generator)
    }
  }

  mutating func flip(_ range: Range<Int>, bits: Int, using generator: inout SeededGenerator) {
    for _ in 0..<bits {
      let offset = Int.random(in: range, using: &generator)
      let bit = Int.random(in: 0..<8, using: &generator)
      bytes[offset] ^= 1 << UInt8(bit)
      story.append("bit \(bit) of byte \(offset)")
    }
  }

  mutating func overwrite(_ range: Range<Int>, using generator: inout SeededGenerator) {
    let fill = Int.random(in: 0..<3, using: &generator)
    for offset in range {
      bytes[offset] = [0, 0xFF, .random(in: 0...0xFF, using: &generator)][fill]
    }
    story.append("bytes \(range) overwritten")
  }

  /// Writes a number in big-endian order, as in the file format.
  mutating func put(_ number: Int, width: Int, at offset: Int) {
    for index in 0..<width {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * (width - 1 - index)))
    }
    story.append("\(number) at byte \(offset)")
  }

  mutating func copy(_ source: Range<Int>, to target: Range<Int>) {
    bytes.replaceSubrange(target, with: Array(bytes[source]))
    story.append("bytes \(source) copied to \(target)")
  }

  mutating func swap(_ one: Range<Int>, _ other: Range<Int>) {
    let kept = Array(bytes[one])
    bytes.replaceSubrange(one, with: Array(bytes[other]))
    bytes.replaceSubrange(other, with: kept)
    story.append("bytes \(one) and \(other) exchanged")
  }

  mutating func truncate(to count: Int) {
    bytes.removeLast(bytes.count - count)
    story.append("cut off at byte \(count)")
  }
}
