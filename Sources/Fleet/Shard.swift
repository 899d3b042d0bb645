import SchemaModel
import SchemaSQLText

/// One of several parts of a list, by the bytes of the names: `2/4`.
package struct Shard: Sendable, Hashable {
  /// From 1.
  package let index: Int
  package let count: Int

  /// The only part of an undivided list.
  package static let all = Shard(index: 1, count: 1)

  init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  /// - Parameter text: `I/N`, with I from 1 to N.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let index = Self.number(parts[0]), let count = Self.number(parts[1]),
      (1...1_000_000).contains(count), (1...count).contains(index)
    else { return nil }
    self.init(index: index, count: count)
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }

  package var isAll: Bool { count == 1 }

  /// Whether a database belongs to the part: the first eight bytes of the SHA-256 of its name as it is listed,
  /// as a big-endian number modulo the number of parts, are one less than the index.
  package func contains(_ name: String) -> Bool {
    guard !isAll else { return true }
    let number = UInt64(SHA256.hex(name.utf8).prefix(16), radix: 16) ?? 0
    return number % UInt64(count) == UInt64(index - 1)
  }
}

extension Shard: CustomStringConvertible {
  package var description: String { "\(index)/\(count)" }
}
