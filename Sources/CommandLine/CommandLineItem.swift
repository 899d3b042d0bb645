/// An option or an argument, recognised before the command is known.
enum CommandLineItem {
  /// `--name` or `-n`, with a value attached by `=` or taken from the next word.
  case option(spelling: String, value: String?)
  case argument(String)

  /// - Parameter option: the declaration of a spelling by any command.
  static func items(
    of words: [String], option: (String) -> OptionDeclaration?
  ) -> [CommandLineItem] {
    var items: [CommandLineItem] = []
    var rest = words[...]
    func nextValue(for spelling: String) -> String? {
      guard option(spelling)?.kind.takesNextWord ?? false, let next = rest.first, !isOption(next)
      else { return nil }
      return rest.popFirst()
    }
    while let word = rest.popFirst() {
      if word == "--" {
        return items + rest.map(CommandLineItem.argument)
      } else if !isOption(word) {
        items.append(.argument(word))
      } else if word.utf8.starts(with: "--".utf8) {
        let (spelling, value) = split(word)
        items.append(.option(spelling: spelling, value: value ?? nextValue(for: spelling)))
      } else if option(String(word.prefix(2))) == nil {
        // Keep the whole word, so that an error about `-timeout` can suggest `--timeout`.
        items.append(.option(spelling: word, value: nil))
      } else {
        // Only flags have short names.
        let (letters, value) = split(word)
        items += letters.dropFirst().map { .option(spelling: "-\($0)", value: value) }
      }
    }
    return items
  }

  /// `-` alone names a stream and `-5` is a number; neither is an option.
  static func isOption(_ word: String) -> Bool {
    let bytes = word.utf8
    guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else { return false }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isNumber =
      bytes.dropFirst().first.map { digits.contains($0) || $0 == UInt8(ascii: ".") } ?? false
    return !(isNumber && Double(word) != nil)
  }

  /// Splits at the byte of `=`, because a combining mark after it hides it from a search by
  /// characters.
  static func split(_ word: String) -> (spelling: String, value: String?) {
    guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (word, nil) }
    return (String(word[..<equals]), String(word[word.utf8.index(after: equals)...]))
  }
}
