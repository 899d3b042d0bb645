import SchemaSQLText

extension Unicode.Scalar {
  /// C0, DEL and C1, which a terminal may interpret as commands.
  var isControl: Bool { properties.generalCategory == .control }
}

extension String {
  /// The first character of a script, as `U+001B`, that would drive a terminal: all control characters
  /// but tab and line feed. SQL has no other way to write one, in a name or in a literal, than as it
  /// is; an escaped form would be another statement.
  package var controlCharacter: String? {
    unicodeScalars.first { $0.isControl && $0 != "\n" && $0 != "\t" }?.codePoint
  }
}
