import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaSQLText

/// A file of findings that lint does not report, for a history that predates the use of lint.
///
/// An entry identifies a finding by its rule, its migration (or its query file) and its object, not
/// by its line. Several equal findings need one entry each.
package struct Baseline: Sendable {
  private struct Entry: Sendable {
    let rule: String
    let migration: String
    let object: String
    let line: Int
    var isUsed = false
  }

  package let file: String
  private var entries: [Entry] = []
  /// The index of each entry in `entries`, by fingerprint.
  private var places: [ExactText: Int] = [:]
  /// The number of findings so far with the same rule, migration and object.
  private var counts: [ExactText: Int] = [:]

  /// The maximum size of a file in bytes.
  package static let sizeLimit = 16_777_216

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
        .map(String.init)
      func invalid(_ problem: String, column: Int) -> Failure {
        Failure(
          .invalidInput, problem,
          place: Failure.Place(file: file, position: Position(line: index + 1, column: column)))
      }
      let digits = Set("0123456789abcdef")
      guard words.count >= 3, words[0].count == 16, words[0].allSatisfy(digits.contains) else {
        throw invalid(
          "this is not an entry of a baseline (fingerprint, rule, migration, object): remove the line, or "
            + "name the file that `schemactl lint --write-baseline` has written", column: 1)
      }
      if let problem = Rule.problem(withID: words[1]) {
        throw invalid(
          "\(problem): write the baseline again with `schemactl lint --write-baseline`", column: 18)
      }
      places[words[0]] = entries.count
      entries.append(
        Entry(
          rule: words[1], migration: words[2], object: words.count > 3 ? words[3] : "",
          line: index + 1))
    }
  }

  /// The text of a baseline that a file will contain.
  ///
  /// - Throws: a failure (65) if the file exists and is not a baseline.
  package static func text(
    _ findings: [Finding], replacing file: String
  ) throws(Failure) -> [UInt8] {
    guard try isReplaceable(file) else {
      throw Failure(
        .invalidInput,
        "`\(file)` is not a baseline of lint findings, so schemactl did not overwrite it",
        remedy: "Name another file as `lint: { baseline: FILE }`, or remove this one first")
    }
    return Array(text(findings).utf8)
  }

  /// Whether the file is missing or empty, begins like a baseline, or contains entries of a
  /// baseline.
  private static func isReplaceable(_ file: String) throws(Failure) -> Bool {
    do throws(FileError) {
      let bytes = try readFile(file, limit: sizeLimit)
      guard let text = String(validating: bytes, as: UTF8.self) else { return false }
      if text.hasPrefix(firstLine) || text.allSatisfy(\.isWhitespace) { return true }
      return (try? Baseline(bytes, file: file))?.entries.isEmpty == false
    } catch {
      if ExitStatus(systemError: error.systemError) == .permission { throw Failure(error) }
      // A dangling link counts as an existing file.
      return error.isMissing && FileStatus(file, followingLinks: false) == nil
    }
  }

  /// The text of a baseline with all findings, except suppressed findings and findings about
  /// suppressions.
  package static func text(_ findings: [Finding]) -> String {
    var counts: [ExactText: Int] = [:]
    return header
      + adoptable(findings).map { finding in
        "\(finding.fingerprint(&counts)) \(finding.rule) \(finding.home)"
          + (finding.object.map { " \(oneLine($0))" } ?? "") + "\n"
      }.joined()
  }

  /// The number of findings in such a text.
  package static func count(_ findings: [Finding]) -> Int { adoptable(findings).count }

  private static func adoptable(_ findings: [Finding]) -> [Finding] {
    findings.filter { finding in
      !finding.isSuppressed && Rule.named(finding.rule)?.isAboutSuppressions == false
    }
  }

  /// The reason why the baseline covers a finding; nil if it does not. Call it once for each
  /// finding, in order.
  mutating func reason(for finding: Finding) -> String? {
    guard let place = places[finding.fingerprint(&counts)] else { return nil }
    entries[place].isUsed = true
    return "It is in the baseline `\(file)`."
  }

  /// The findings about unused entries.
  ///
  /// - Parameter canFind: whether a rule can report anything in a migration or a query file.
  func unused(_ severity: Severity, _ canFind: (Rule, String) -> Bool) -> [Finding] {
    entries.filter { entry in
      !entry.isUsed && Rule.named(entry.rule).map { canFind($0, entry.migration) } ?? false
    }.map { entry in
      let about = entry.object.isEmpty ? "" : " about \(entry.object)"
      return Finding(
        rule: Rule.unusedSuppression.id, severity: severity,
        lines: [
          "`\(entry.migration)` no longer has a finding of `\(entry.rule)`\(about): remove the line"
        ], file: file, line: entry.line, column: 1, migration: entry.migration,
        object: entry.rule, fix: nil)
    }
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}

extension Finding {
  /// Sixteen hexadecimal digits that identify the finding without its line.
  ///
  /// - Parameter counts: the number of findings so far with the same rule, migration and object.
  fileprivate func fingerprint(_ counts: inout [ExactText: Int]) -> String {
    let subject = "\(rule)\n\(home)\n\(object ?? "")"
    counts[subject, default: 0] += 1
    return String(SHA256.hex("\(subject)\n\(counts[subject] ?? 1)".utf8).prefix(16))
  }
}
