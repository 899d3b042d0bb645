/// What an option was given.
enum OptionValue: Sendable, Hashable {
  case flag(Bool)
  case text(String)
  case integer(Int)
  case number(Double)
  /// `--name` of an option whose value may be left out.
  case bare
}

extension OptionDeclaration.Kind {
  /// The value that a text stands for, nil when it stands for none. A flag's text can come only
  /// from the environment.
  func value(from text: String) -> OptionValue? {
    switch self {
    case .flag:
      switch text.lowercased() {
      case "1", "true", "yes", "on": .flag(true)
      case "0", "false", "no", "off": .flag(false)
      default: nil
      }
    case .text, .optionalText: .text(text)
    case .integer(_, let range):
      Int(text).flatMap { range.contains($0) ? .integer($0) : nil }
    case .number(_, let range):
      finiteDecimal(text).flatMap { range.contains($0) ? .number($0) : nil }
    case .choice(_, let choices): choices.contains(text) ? .text(text) : nil
    }
  }

  /// What a value has to be, to follow "must be".
  var expectation: String {
    switch self {
    case .flag: "1 or 0, true or false, yes or no, on or off"
    case .text, .optionalText: "a text"
    case .integer(_, let range):
      "a whole number"
        + span(
          range.lowerBound == .min ? nil : String(range.lowerBound),
          range.upperBound == .max ? nil : String(range.upperBound))
    case .number(_, let range): "a number" + span(bound(range.lowerBound), bound(range.upperBound))
    case .choice(_, let choices): "one of " + choices.joined(separator: ", ")
    }
  }
}

/// Nil for what `Double` also reads and nobody means: hexadecimals, `nan`, `inf`, overflow.
private func finiteDecimal(_ text: String) -> Double? {
  let isDecimal = text.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }
  guard isDecimal, let number = Double(text), number.isFinite else { return nil }
  return number
}

/// Nil for a bound that excludes nothing.
private func bound(_ number: Double) -> String? {
  guard number.magnitude < .greatestFiniteMagnitude else { return nil }
  let text = String(number)
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

private func span(_ lower: String?, _ upper: String?) -> String {
  switch (lower, upper) {
  case (nil, nil): ""
  case (let lower?, nil): ", at least \(lower)"
  case (nil, let upper?): ", at most \(upper)"
  case (let lower?, let upper?): " from \(lower) to \(upper)"
  }
}
