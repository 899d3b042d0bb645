import SchemaSQLText

extension String {
  /// Shortens words that are too long for a line: a name may have thousands of characters.
  var withShortWords: String {
    guard utf8.count > 300 else { return self }
    return split(separator: " ", omittingEmptySubsequences: false).map { word in
      word.utf8.count > 300 && word.count > 300
        ? "\(word.prefix(100))…\(word.suffix(20)) (\(word.count) characters)" : String(word)
    }.joined(separator: " ")
  }

  /// At most `limit` characters, on one line.
  func shortened(to limit: Int) -> String {
    let line = split(whereSeparator: \.isWhitespace).joined(separator: " ").visible
    return line.count > limit ? line.prefix(limit - 1) + "…" : line
  }
}
