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
