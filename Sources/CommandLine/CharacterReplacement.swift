extension String {
  /// The text with another one for each such character. (`replacing` needs macOS 13.)
  func with(_ text: String, for character: Character) -> String {
    map { $0 == character ? text : String($0) }.joined()
  }
}
