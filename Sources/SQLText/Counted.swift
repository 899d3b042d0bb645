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
