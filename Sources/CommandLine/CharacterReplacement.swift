extension String {
  /// Returns the text with each occurrence of a character replaced. (`replacing` needs macOS 13.)
  func with(_ text: String, for character: Character) -> String {
    map { $0 == character ? text : String($0) }.joined()
  }
}
