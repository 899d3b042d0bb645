/// The candidate that a misspelt word most probably means: at most two edits away, or for long
/// words at most a third of their length. Nil when none is near.
package func suggestion(for word: String, among candidates: [String]) -> String? {
  let letters = word.utf8.map(\.lowercased)
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let other = candidate.utf8.map(\.lowercased)
    let limit = max(2, max(letters.count, other.count) / 3)
    // Fewer edits than letters, or any short word would do; and texts that are far too long cost no work.
    guard other.count > 0, abs(letters.count - other.count) <= limit else { continue }
    let distance = editDistance(letters, other)
    guard distance <= limit, distance < max(letters.count, other.count) else { continue }
    if distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.candidate
}

/// The question for an error message, such as ": did you mean `lists`?"; empty when no candidate is near.
package func didYouMean(_ word: String, among candidates: [String]) -> String {
  suggestion(for: word, among: candidates).map { ": did you mean `\($0)`?" } ?? ""
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other
/// (the optimal string alignment distance).
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var beforePrevious: [Int] = []
  var previous = Array(0...b.count)
  for i in a.indices {
    var current = [i + 1]
    for j in b.indices {
      let replaced = previous[j] + (a[i] == b[j] ? 0 : 1)
      var distance = min(previous[j + 1] + 1, current[j] + 1, replaced)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        distance = min(distance, beforePrevious[j - 1] + 1)
      }
      current.append(distance)
    }
    (beforePrevious, previous) = (previous, current)
  }
  return previous[b.count]
}
