import SchemaSQLText

/// A pattern for whole names: `*` any characters, `?` one, `[a-z]` one of these, `[!a-z]` or
/// `[^a-z]` one other. Every other character is itself; a `[` that nothing closes too.
///
/// ASCII letters match in either case, as names in SQLite do; nothing depends on the locale. Time
/// grows at most with the length of the name times that of the pattern.
package struct Glob: Sendable, Hashable {
  private enum Element: Hashable {
    case any
    case one
    case literal(Unicode.Scalar)
    case oneOf([ClosedRange<Unicode.Scalar>], negated: Bool)

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .any: false
      case .one: true
      case .literal(let own): own == scalar
      case .oneOf(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
      }
    }
  }

  private let elements: [Element]

  package init(_ pattern: String) {
    let scalars = Self.scalars(pattern)
    var elements: [Element] = []
    var index = 0
    while index < scalars.count {
      let (element, length) = Self.element(scalars[index...])
      if element != .any || elements.last != .any { elements.append(element) }
      index += length
    }
    self.elements = elements
  }

  package func matches(_ name: String) -> Bool {
    let scalars = Self.scalars(name)
    var (position, index) = (0, 0)
    // Where to go on when what follows the last `*` does not match: it takes one more character.
    var retry: (position: Int, index: Int)?
    while position < scalars.count {
      if index < elements.count, elements[index] == .any {
        index += 1
        retry = (position, index)
      } else if index < elements.count, elements[index].matches(scalars[position]) {
        position += 1
        index += 1
      } else if let last = retry {
        retry = (last.position + 1, last.index)
        (position, index) = (last.position + 1, last.index)
      } else {
        return false
      }
    }
    return elements[index...].allSatisfy { $0 == .any }
  }

  // MARK: Reading

  /// The ASCII letters in lower case.
  private static func scalars(_ name: String) -> [Unicode.Scalar] {
    Array(String(decoding: Array(name.identifier.folded), as: UTF8.self).unicodeScalars)
  }

  private static func element(_ rest: ArraySlice<Unicode.Scalar>) -> (Element, length: Int) {
    guard let first = rest.first else { return (.any, 0) }
    switch first {
    case "*": return (.any, 1)
    case "?": return (.one, 1)
    case "[": return set(rest) ?? (.literal(first), 1)
    default: return (.literal(first), 1)
    }
  }

  private static func set(_ rest: ArraySlice<Unicode.Scalar>) -> (Element, length: Int)? {
    var content = rest.dropFirst()
    let negated = content.first == "!" || content.first == "^"
    if negated { content = content.dropFirst() }
    // A `]` that comes first is one of the characters.
    guard let end = content.dropFirst().firstIndex(of: "]") else { return nil }
    var scalars = content[..<end]
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    while let low = scalars.popFirst() {
      guard scalars.first == "-", let high = scalars.dropFirst().first else {
        ranges.append(low...low)
        continue
      }
      scalars = scalars.dropFirst(2)
      if low <= high { ranges.append(low...high) }
    }
    return (.oneOf(ranges, negated: negated), end + 1 - rest.startIndex)
  }
}
