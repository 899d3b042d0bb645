/// The candidate most similar to a misspelt word; nil if none is similar enough.
func nearest(to word: String, among candidates: [String]) -> String? {
  let scored = candidates.compactMap { candidate in
    distance(word, candidate).map { (candidate, $0) }
  }
  return scored.min { $0.1 < $1.1 }?.0 ?? beginning(with: word, among: candidates)
}

/// The only candidate with the typed prefix.
private func beginning(with word: String, among candidates: [String]) -> String? {
  let matches = candidates.filter { $0.utf8.starts(with: word.utf8) }
  return word.utf8.contains { $0 != UInt8(ascii: "-") } && matches.count == 1 ? matches[0] : nil
}

/// The number of insertions, deletions, substitutions and transpositions between two words; nil if
/// it exceeds a third of the letters.
private func distance(_ first: String, _ second: String) -> Int? {
  let a = Array(first.utf8)
  let b = Array(second.utf8)
  let limit = max(1, b.count / 3)
  guard abs(a.count - b.count) <= limit, !a.isEmpty, !b.isEmpty else { return nil }
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in 1...a.count {
    var row = [i]
    for j in 1...b.count {
      var cost = min(
        last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
        cost = min(cost, beforeLast[j - 2] + 1)
      }
      row.append(cost)
    }
    (beforeLast, last) = (last, row)
  }
  // A word of one or two letters is similar to almost every other word.
  return last[b.count] <= limit && last[b.count] < b.count - 1 ? last[b.count] : nil
}
