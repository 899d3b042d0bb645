import SchemaSQLText

extension Unicode.Scalar {
  /// C0, DEL and C1, which a terminal may interpret as commands.
  var isControl: Bool { properties.generalCategory == .control }
}

extension String {
  /// The first character of a script, as `U+001B`, that would drive a terminal: all control characters
  /// but tab and line feed. SQL has no other way to write one, in a name or in a literal, than as it
  /// is; what is shown in another way is another statement.
  package var controlCharacter: String? {
    let found = unicodeScalars.first { $0.isControl && $0 != "\n" && $0 != "\t" }
    return found.map { scalar in
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
  }
}
