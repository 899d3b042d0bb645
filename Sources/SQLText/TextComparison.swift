import SchemaPlatform
import SchemaSQLite

// Texts are compared byte by byte, as in SQLite and in Linux file systems. The operators of the standard
// library use Unicode canonical equivalence, so that "é" as one scalar equals "é" as two, and the Kelvin sign
// equals "K". For SQLite these are different names, values and rows.
//
// The declarations below replace those of the standard library in every file that imports SQLText. They do
// not affect `Set<String>` and `[String: …]`: use `Identifier` for names and `ExactText` for other texts
// instead. `make check` compiles the sources with ForbiddenCollections.swift, which turns uses of those types
// into errors.

extension StringProtocol {
  package func hasPrefix(_ prefix: some StringProtocol) -> Bool {
    utf8.starts(with: prefix.utf8)
  }

  package func hasSuffix(_ suffix: some StringProtocol) -> Bool {
    utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}

extension String {
  package static func == (a: String, b: String) -> Bool {
    let isSame = a.utf8.withContiguousStorageIfAvailable { a in
      b.utf8.withContiguousStorageIfAvailable { b in
        guard a.count == b.count, let start = a.baseAddress, let other = b.baseAddress
        else { return a.count == b.count }
        return memcmp(start, other, a.count) == 0
      }
    }
    return (isSame ?? nil) ?? a.utf8.elementsEqual(b.utf8)
  }

  package static func != (a: String, b: String) -> Bool { !(a == b) }

  package static func ~= (pattern: String, text: String) -> Bool { pattern == text }

  package static func < (a: String, b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  package static func > (a: String, b: String) -> Bool { b < a }

  package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

  package func hasSuffix(_ suffix: String) -> Bool {
    utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}

extension Optional where Wrapped == String {
  package static func == (a: String?, b: String?) -> Bool {
    switch (a, b) {
    case (let a?, let b?): a == b
    case (nil, nil): true
    default: false
    }
  }

  package static func != (a: String?, b: String?) -> Bool { !(a == b) }

  // Without these, the compiler prefers the standard library's operator if one side is a literal.
  package static func == (a: String?, b: String) -> Bool { a.map { $0 == b } ?? false }

  package static func == (a: String, b: String?) -> Bool { b == a }

  package static func != (a: String?, b: String) -> Bool { !(a == b) }

  package static func != (a: String, b: String?) -> Bool { !(b == a) }
}

extension Substring {
  package static func == (a: Substring, b: Substring) -> Bool { a.utf8.elementsEqual(b.utf8) }

  package static func == (a: Substring, b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

  package static func == (a: String, b: Substring) -> Bool { b == a }

  package static func != (a: Substring, b: Substring) -> Bool { !(a == b) }

  package static func != (a: Substring, b: String) -> Bool { !(a == b) }

  package static func != (a: String, b: Substring) -> Bool { !(b == a) }
}

extension Array where Element == String {
  package static func == (a: [String], b: [String]) -> Bool { a.elementsEqual(b) }

  package static func != (a: [String], b: [String]) -> Bool { !(a == b) }
}

extension Sequence where Element == String {
  package func contains(_ text: String) -> Bool { contains { $0 == text } }

  package func elementsEqual(_ other: some Sequence<String>) -> Bool {
    elementsEqual(other) { $0 == $1 }
  }

  package func sorted() -> [String] { sorted { $0 < $1 } }

  package func min() -> String? { self.min { $0 < $1 } }

  package func max() -> String? { self.max { $0 < $1 } }
}

extension Collection where Element == String {
  package func firstIndex(of text: String) -> Index? { firstIndex { $0 == text } }
}

// Searches texts byte by byte. (The standard library's own search needs macOS 13 and iOS 16.)

extension StringProtocol {
  /// The range of the first occurrence of a part.
  package func firstRange(of part: String) -> Range<Index>? {
    var start = utf8.startIndex
    while start < utf8.endIndex {
      if utf8[start...].starts(with: part.utf8) {
        return start..<utf8.index(start, offsetBy: part.utf8.count)
      }
      start = utf8.index(after: start)
    }
    return nil
  }

  /// The texts between the occurrences of a part, without empty ones.
  package func parts(separatedBy part: String) -> [SubSequence] {
    guard let range = firstRange(of: part) else { return isEmpty ? [] : [self[...]] }
    let first = self[..<range.lowerBound]
    return (first.isEmpty ? [] : [first]) + self[range.upperBound...].parts(separatedBy: part)
  }

  package func contains(_ part: String) -> Bool { part.isEmpty || firstRange(of: part) != nil }
}

extension String {
  /// Replaces the first occurrence of a part.
  package func replacingFirst(_ part: String, with other: String) -> String {
    firstRange(of: part).map { self[..<$0.lowerBound] + other + self[$0.upperBound...] } ?? self
  }
}

// MARK: Names and exact texts

/// The name of a table, column, index, view, trigger, function or collation. Names are compared as
/// in SQLite: byte by byte, with ASCII letters regardless of case.
package struct Identifier: Sendable {
  /// The name without quotes.
  package let text: String

  package init(_ text: some StringProtocol) { self.text = String(text) }

  /// Whether SQLite reserves the name: `sqlite_sequence`, `sqlite_stat1`, automatic indexes.
  package var isInternal: Bool { hasPrefix("sqlite_") }

  /// The names of the rowid in a table without columns of these names.
  package static let rowids: [Identifier] = ["rowid", "_rowid_", "oid"]

  package func hasPrefix(_ prefix: Identifier) -> Bool {
    var (text, start) = (text, prefix.text)
    return text.withUTF8 { text in
      start.withUTF8 { areSameNames(UnsafeBufferPointer(rebasing: text.prefix($0.count)), $0) }
    }
  }

  /// The bytes of the name with ASCII letters in lower case, which are compared.
  package var folded: some Sequence<UInt8> { text.utf8.lazy.map(\.lowercased) }
}

extension Identifier: Hashable {
  package static func == (a: Identifier, b: Identifier) -> Bool {
    var (a, b) = (a.text, b.text)
    return a.utf8.count == b.utf8.count
      && a.withUTF8 { a in b.withUTF8 { b in areSameNames(a, b) } }
  }

  package func hash(into hasher: inout Hasher) {
    // Eight bytes at a time, without the bit by which the cases of a letter differ.
    var text = text
    text.withUTF8 { bytes in
      hasher.combine(bytes.count)
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        var word: UInt64 = 0
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(8))
        withUnsafeMutableBytes(of: &word) { $0.copyMemory(from: part) }
        hasher.combine(word & ~0x2020_2020_2020_2020)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(8))
      }
    }
  }
}

extension Identifier: Comparable {
  package static func < (a: Identifier, b: Identifier) -> Bool {
    a.folded.lexicographicallyPrecedes(b.folded)
  }
}

extension Identifier: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral text: String) { self.text = text }

  package var description: String { text }
}

/// A text as an element of a set or the key of a dictionary, compared byte by byte: the id of a
/// migration, a path, an SQL text.
package struct ExactText: Sendable {
  package let text: String

  package init(_ text: some StringProtocol) { self.text = String(text) }
}

extension ExactText: Hashable, Comparable {
  package static func == (a: ExactText, b: ExactText) -> Bool { a.text == b.text }

  package static func < (a: ExactText, b: ExactText) -> Bool { a.text < b.text }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ExactText: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral text: String) { self.text = text }

  package var description: String { text }
}

extension String {
  package var exact: ExactText { ExactText(self) }

  /// The text as a name in SQL.
  package var identifier: Identifier { Identifier(self) }

  /// Whether SQLite considers both names equal.
  package func isSameName(as other: String) -> Bool { identifier == other.identifier }
}

extension Set where Element == Identifier {
  package func contains(_ name: String) -> Bool { contains(Identifier(name)) }

  @discardableResult
  package mutating func insert(_ name: String) -> Bool { insert(Identifier(name)).inserted }
}

extension Set where Element == ExactText {
  package func contains(_ text: String) -> Bool { contains(ExactText(text)) }

  @discardableResult
  package mutating func insert(_ text: String) -> Bool { insert(ExactText(text)).inserted }
}

extension Dictionary where Key == ExactText {
  package subscript(_ text: String) -> Value? {
    get { self[ExactText(text)] }
    set { self[ExactText(text)] = newValue }
  }

  package subscript(_ text: String, default value: @autoclosure () -> Value) -> Value {
    get { self[ExactText(text), default: value()] }
    _modify { yield &self[ExactText(text), default: value()] }
  }
}

extension Dictionary where Key == Identifier {
  package subscript(_ name: String) -> Value? {
    get { self[Identifier(name)] }
    set { self[Identifier(name)] = newValue }
  }

  package subscript(_ name: String, default value: @autoclosure () -> Value) -> Value {
    get { self[Identifier(name), default: value()] }
    _modify { yield &self[Identifier(name), default: value()] }
  }
}
