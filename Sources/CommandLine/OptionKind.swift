extension OptionDeclaration.Kind {
  /// Whether the text is a valid value.
  func accepts(_ text: String) -> Bool {
    switch self {
    case .flag: false
    case .text, .optionalText: true
    case .integer(_, let range): Int(text).map(range.contains) ?? false
    case .number(_, let range): finiteDecimal(text).map(range.contains) ?? false
    case .choice(_, let choices): choices.contains(text)
    }
  }

  /// The expected value, to follow "must be".
  var expectation: String {
    switch self {
    case .flag, .text, .optionalText: "a text"
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

/// Parses a decimal number. Nil for other texts that `Double` reads: hexadecimals, `nan`, `inf` and
/// overflow.
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

/// Nil for an infinite bound.
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
