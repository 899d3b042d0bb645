import SchemaSQLite

/// The name of a table, column, index, view, trigger, function or collation. Names are compared as
/// in SQLite: byte by byte, with ASCII letters regardless of case.
package struct Identifier: Sendable {
  /// The name without quotes.
  package let text: String

  package init(_ text: some StringProtocol) { self.text = String(text) }

  /// Whether SQLite reserves the name: `sqlite_sequence`, `sqlite_stat1`, automatic indexes.
  package var isInternal: Bool { hasPrefix("sqlite_") }

  package func hasPrefix(_ prefix: Identifier) -> Bool {
    var (text, start) = (text, prefix.text)
    return text.withUTF8 { text in
      start.withUTF8 { areSameNames(UnsafeBufferPointer(rebasing: text.prefix($0.count)), $0) }
    }
  }

  /// The bytes by which names are compared.
  package var folded: some Sequence<UInt8> { text.utf8.lazy.map(\.lowercased) }
}

extension Identifier: Hashable {
  package static func == (a: Identifier, b: Identifier) -> Bool {
    var (a, b) = (a.text, b.text)
    return a.withUTF8 { a in b.withUTF8 { b in areSameNames(a, b) } }
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
