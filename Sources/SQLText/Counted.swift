/// `1 row`, `12,000,000 rows`.
package func counted(_ count: some BinaryInteger, _ noun: String) -> String {
  "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
}

/// `12,000,000`.
package func grouped(_ count: some BinaryInteger) -> String {
  var text = ""
  let digits = String(count.magnitude)
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
    text.append(digit)
  }
  return (count < 0 ? "-" : "") + text
}

extension [String] {
  /// The first of a message's items and, as the last, how many more there are.
  package func abridged(to limit: Int) -> [String] {
    count > limit ? prefix(limit) + ["and \(count - limit) more"] : self
  }
}
