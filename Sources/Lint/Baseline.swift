import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// The findings of an old history from before lint was adopted. Lint does not report them.
///
/// An entry names a finding by its rule, its migration (or its query file) and its object, not by its line.
/// Several equal findings need an entry each.
package struct Baseline: Sendable {
  private struct Entry: Sendable {
    let fingerprint: String
    /// For people, and for telling what an unused entry was about.
    let rule: String
    let migration: String
    let object: String
    let line: Int
    var isUsed = false
  }

  package let file: String
  private var entries: [Entry] = []
  /// The entries by their fingerprints.
  private var places: [ExactText: Int] = [:]
  /// How many findings of a rule, a migration and an object have asked.
  private var counts: [ExactText: Int] = [:]

  private static let firstLine =
    "# The findings of `schemactl lint` that were there when it was adopted: they are not reported."

  private static let header = """
    \(firstLine)
    # Written by `schemactl lint --write-baseline`. A line may go, and none should come.

    """

  /// - Parameter file: how messages name it.
  /// - Throws: at the first line that is no entry (65).
  package init(_ bytes: [UInt8], file: String) throws(Failure) {
    self.file = file
    let lines = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let line = line.last == "\r" ? line.dropLast() : line
      guard !line.isEmpty, line.first != "#" else { continue }
      let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
      let digits = Set("0123456789abcdef")
      guard words.count >= 3, words[0].count == 16, words[0].allSatisfy(digits.contains) else {
        throw Failure(
          .invalidInput,
          "this is not an entry of a baseline (fingerprint, rule, migration, object): remove the line, or "
            + "name the file that `schemactl lint --write-baseline` has written",
          place: Failure.Place(file: file, position: Position(line: index + 1, column: 1)))
      }
      if let problem = Rule.problem(withID: String(words[1])) {
        throw Failure(
          .invalidInput,
          "\(problem): write the baseline again with `schemactl lint --write-baseline`",
          place: Failure.Place(file: file, position: Position(line: index + 1, column: 18)))
      }
      places[String(words[0])] = entries.count
      entries.append(
        Entry(
          fingerprint: String(words[0]), rule: String(words[1]), migration: String(words[2]),
          object: words.count > 3 ? String(words[3]) : "", line: index + 1))
    }
  }

  /// Whether writing a baseline in the place of these bytes loses nothing but a baseline: they begin
  /// like one or hold its entries, or hold nothing at all.
  package static func isReplaceable(_ bytes: [UInt8], file: String) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    if text.hasPrefix(firstLine) || text.allSatisfy(\.isWhitespace) { return true }
    return (try? Baseline(bytes, file: file))?.entries.isEmpty == false
  }

  /// A baseline with all findings that are neither suppressed nor about suppressions.
  package static func text(_ findings: [Finding]) -> String {
    var counts: [ExactText: Int] = [:]
    let lines = findings.lazy.filter { !$0.isSuppressed && isAdoptable($0.rule) }.map { finding in
      let subject = subject(finding.rule, finding.home, finding.object)
      counts[subject, default: 0] += 1
      let fingerprint = fingerprint(subject, counts[subject] ?? 1)
      return "\(fingerprint) \(finding.rule) \(finding.home)"
        + (finding.object.map { " \(oneLine($0))" } ?? "") + "\n"
    }
    return header + lines.joined()
  }

  /// How many findings such a text holds.
  package static func count(_ findings: [Finding]) -> Int {
    findings.count { !$0.isSuppressed && isAdoptable($0.rule) }
  }

  private static func isAdoptable(_ rule: String) -> Bool {
    Rule.named(rule).map { !$0.isAboutSuppressions } ?? false
  }

  /// Whether a finding is in it. Must be asked once for each finding, in their order.
  mutating func contains(_ rule: String, _ migration: String, _ object: String?) -> Bool {
    let subject = Self.subject(rule, migration, object)
    counts[subject, default: 0] += 1
    guard let place = places[Self.fingerprint(subject, counts[subject] ?? 1)] else { return false }
    entries[place].isUsed = true
    return true
  }

  /// The entries that no finding has asked for, among those of these migrations and of none.
  ///
  /// - Parameters:
  ///   - all: the ids of the history's migrations.
  ///   - replayed: the ids of the migrations that lint has judged.
  ///   - judgesQueries: whether lint has judged the application's queries.
  func unused(
    of all: Set<ExactText>, replayed: Set<ExactText>, judgesQueries: Bool
  ) -> [(line: Int, migration: String, object: String, message: String)] {
    entries.filter { entry in
      !entry.isUsed && (judgesQueries || Rule.named(entry.rule)?.section != .breaksQueries)
        && (replayed.contains(entry.migration) || !all.contains(entry.migration))
    }.map { entry in
      let about = entry.object.isEmpty ? "" : " about \(entry.object)"
      return (
        entry.line, entry.migration, entry.rule,
        "`\(entry.migration)` no longer has a finding of `\(entry.rule)`\(about): remove the line"
      )
    }
  }

  private static func subject(_ rule: String, _ migration: String, _ object: String?) -> String {
    "\(rule)\n\(migration)\n\(object ?? "")"
  }

  /// Sixteen hexadecimal digits.
  private static func fingerprint(_ subject: String, _ number: Int) -> String {
    String(SHA256.hex("\(subject)\n\(number)".utf8).prefix(16))
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
