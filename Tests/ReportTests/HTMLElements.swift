/// The elements and attributes of an HTML page, as parsed by a browser outside of `script` and
/// `style`.
struct HTMLElements {
  struct Problem: Error {
    let near: String
  }

  private(set) var names: [String] = []
  private(set) var attributes: [String] = []
  private var rest: Substring.UnicodeScalarView

  init(_ page: String) throws {
    rest = page[...].unicodeScalars
    while let start = rest.firstIndex(of: "<") {
      rest = rest[start...].dropFirst()
      guard rest.first != "!" else { continue }
      let isEnd = rest.first == "/"
      if isEnd { rest.removeFirst() }
      let name = take { $0.properties.isAlphabetic || ("0"..."9").contains($0) }
      guard !name.isEmpty else { throw Problem(near: String(rest.prefix(80))) }
      if !isEnd { names.append(name) }
      try readAttributes()
      if !isEnd, ["script", "style"].contains(name) {
        let text = String(Substring(rest))
        guard let end = text.firstRange(of: "</\(name)") else { throw Problem(near: name) }
        rest = rest.dropFirst(text[..<end.lowerBound].unicodeScalars.count)
      }
    }
  }

  private mutating func readAttributes() throws {
    while true {
      _ = take { $0.properties.isWhitespace || $0 == "/" }
      guard let next = rest.first else { throw Problem(near: "the end") }
      if next == ">" { return }
      let name = take {
        !$0.properties.isWhitespace && !["=", ">", "/", "\"", "'", "<"].contains($0)
      }
      guard !name.isEmpty else { throw Problem(near: String(rest.prefix(80))) }
      attributes.append(name)
      guard rest.first == "=" else { continue }
      rest.removeFirst()
      guard rest.first == "\"" else { throw Problem(near: String(rest.prefix(80))) }
      rest.removeFirst()
      _ = take { $0 != "\"" }
      rest.removeFirst()
    }
  }

  private mutating func take(while isIncluded: (Unicode.Scalar) -> Bool) -> String {
    let taken = rest.prefix(while: isIncluded)
    rest = rest.dropFirst(taken.count)
    return String(Substring(taken))
  }
}
