import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// A file of findings that lint does not report, for a history that predates the use of lint.
///
/// An entry identifies a finding by its rule, its migration (or its query file) and its object, not
/// by its line. Several equal findings need one entry each.
package struct Baseline: Sendable {
  private struct Entry: Sendable {
    let fingerprint: String
    /// For readers of the file, and for the message about an unused entry.
    let rule: String
    let migration: String
    let object: String
    let line: Int
    var isUsed = false
  }

  package let file: String
  private var entries: [Entry] = []
  /// The numbers of the entries, by fingerprint.
  private var places: [ExactText: Int] = [:]
  /// The number of findings so far with the same rule, migration and object.
  private var counts: [ExactText: Int] = [:]

  private static let firstLine =
    "# Accepted findings: `schemactl lint` does not report them."

  private static let header = """
    \(firstLine)
    # Written by `schemactl lint --write-baseline`. You may remove lines; do not add lines by hand.

    """

  /// - Parameter file: the name of the file in messages.
  /// - Throws: a failure (65) at the first line that is not a valid entry.
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

  /// Whether a new baseline may replace a file with these bytes: the file is empty, begins like a
  /// baseline or holds entries of one.
  package static func isReplaceable(_ bytes: [UInt8], file: String) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    if text.hasPrefix(firstLine) || text.allSatisfy(\.isWhitespace) { return true }
    return (try? Baseline(bytes, file: file))?.entries.isEmpty == false
  }

  /// The text of a baseline with all findings except suppressed ones and those about suppressions.
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

  /// The number of findings in such a text.
  package static func count(_ findings: [Finding]) -> Int {
    findings.count { !$0.isSuppressed && isAdoptable($0.rule) }
  }

  private static func isAdoptable(_ rule: String) -> Bool {
    Rule.named(rule).map { !$0.isAboutSuppressions } ?? false
  }

  /// Whether the baseline contains a finding. Call it once for each finding, in order.
  mutating func contains(_ rule: String, _ migration: String, _ object: String?) -> Bool {
    let subject = Self.subject(rule, migration, object)
    counts[subject, default: 0] += 1
    guard let place = places[Self.fingerprint(subject, counts[subject] ?? 1)] else { return false }
    entries[place].isUsed = true
    return true
  }

  /// The unused entries, limited to the given migrations and to migrations that no longer exist.
  ///
  /// - Parameters:
  ///   - all: the ids of the history's migrations.
  ///   - replayed: the ids of the migrations that lint replayed.
  ///   - judgesQueries: whether lint checked the application's queries.
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

  /// Returns sixteen hexadecimal digits.
  private static func fingerprint(_ subject: String, _ number: Int) -> String {
    String(SHA256.hex("\(subject)\n\(number)".utf8).prefix(16))
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
