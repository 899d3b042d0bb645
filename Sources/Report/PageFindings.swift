import SchemaDevices
import SchemaLint
import SchemaSQLText
import SchemaTimeline

extension Page {
  /// The findings, grouped by rule; suppressed ones come last.
  var lintSection: HTML {
    let lint = report.lint
    let active = lint.findings.filter { !$0.isSuppressed }
    let suppressed = lint.findings.filter(\.isSuppressed)
    let verdict: HTML =
      active.isEmpty ? "<p>Lint finds no problem.</p>" : rules(of: active, prefix: "f", level: 3)
    let reasons: HTML =
      suppressed.isEmpty
      ? ""
      : "<h3>Suppressed</h3><p>Findings that somebody accepted, with the reason.</p>\(rules(of: suppressed, prefix: "s", level: 4))"
    return """
      <section id="lint"><h2>Lint</h2>
      <p>Profile <code>\(lint.profile.rawValue)</code>: \(message: lint.profile.meaning).</p>
      \(verdict)\(reasons)</section>

      """
  }

  private func rules(of findings: [Finding], prefix: String, level: Int) -> HTML {
    var groups: [(rule: String, findings: [Finding])] = []
    for finding in findings {
      if let place = groups.firstIndex(where: { $0.rule == finding.rule }) {
        groups[place].findings.append(finding)
      } else {
        groups.append((finding.rule, [finding]))
      }
    }
    let sorted = groups.enumerated().sorted { a, b in
      let (left, right) = (weight(a.element.findings), weight(b.element.findings))
      return left == right ? a.offset < b.offset : left < right
    }.map(\.element)
    return sorted.map { rule, findings -> HTML in
      let why = Rule.named(rule)
      let rationale: HTML =
        why.map {
          "<details><summary>Why this is a rule</summary><p>\(message: $0.why)</p><p>\(message: $0.fix)</p></details>"
        } ?? ""
      let shown = findings.prefix(50).map { item($0) }
      let rest = findings.count - shown.count
      let more: HTML =
        rest > 0 ? "<p>\(rest) more; see <code>schemactl lint --verbose</code>.</p>" : ""
      return """
        <article class="rule" id="\(prefix)-\(rule.anchor)"><h\(level)><code>\(rule)</code> <small>\(findings.count)</small></h\(level)>
        \(rationale)<ul class="findings">\(shown.joined())</ul>\(more)</article>

        """
    }.joined()
  }

  private func weight(_ findings: [Finding]) -> Int {
    let order: [Severity] = [.error, .warning, .note, .off]
    return findings.compactMap { finding in order.firstIndex(of: finding.severity) }.min() ?? 0
  }

  private func item(_ finding: Finding) -> HTML {
    let object: HTML = finding.object.map { " · \(link(toObject: $0))" } ?? ""
    let frozen: HTML = finding.isFrozen ? " · frozen" : ""
    let reason: HTML =
      finding.reason.map { "<p class=\"reason\"><b>Reason:</b> \(lines: $0)</p>" } ?? ""
    let help: HTML = finding.help.map { "<p class=\"help\">Help: \(message: $0)</p>" } ?? ""
    let fix: HTML =
      finding.fix.map {
        "<details><summary>Write this instead</summary><pre tabindex=\"0\"><code>\(lines: $0)</code></pre></details>"
      } ?? ""
    let line = "\(finding.file):\(finding.line)"
    // A finding about a query has a place outside the migration that breaks the query.
    let place: HTML =
      finding.home == finding.migration
      ? "<code>\(link(toMigration: finding.migration, at: line))</code>"
      : "\(link(toMigration: finding.migration)) · <code>\(line)</code>"
    let exchange: HTML =
      number(of: finding).map { " · <a href=\"#x-\($0)\">see it on two devices</a>" } ?? ""
    return """
      <li><span class="severity \(finding.severity.rawValue)">\(finding.severity.rawValue)</span> \
      \(message: finding.lines[0])<p class="meta">\(place)\
      \(object)\(frozen)\(exchange)</p>\(reason)\(finding.isSuppressed ? nil : help)\(fix)</li>

      """
  }

  // MARK: Two devices

  /// The findings of the compatibility simulation that have a transcript, at most 60.
  var transcripts: [(finding: Finding, transcript: DeviceTranscript)] {
    report.lint.findings.compactMap { finding in
      finding.transcript.map { (finding, $0) }
    }.prefix(60).map { $0 }
  }

  private func number(of finding: Finding) -> Int? {
    finding.transcript == nil ? nil : transcripts.firstIndex { $0.finding == finding }
  }

  /// The counterexamples, with the two devices side by side.
  var devicesSection: HTML {
    let examples = transcripts
    guard !examples.isEmpty else { return "" }
    let articles = examples.enumerated().map { number, example -> HTML in
      let (finding, transcript) = example
      let reason: HTML =
        finding.isSuppressed
        ? "<p class=\"reason\"><b>Suppressed:</b> \(finding.reason ?? "")</p>" : ""
      let turns = transcript.turns.enumerated().map { place, turn -> HTML in
        let name = turn.isSender ? transcript.sender : transcript.receiver
        let schema: HTML =
          turn.schema.isEmpty
          ? ""
          : "<details><summary>Its tables</summary><pre tabindex=\"0\"><code>\(lines: turn.schema.joined(separator: "\n"))</code></pre></details>"
        let isLast = place == transcript.turns.count - 1
        let outcome: HTML = isLast ? "<p class=\"outcome\">\(message: transcript.outcome)</p>" : ""
        return """
          <div class="\(turn.isSender ? "sender" : "receiver")"><h4>\(place + 1). \(message: name)</h4>\(schema)\
          <pre tabindex="0"><code>\(lines: turn.statements.joined(separator: "\n"))</code></pre>\(outcome)</div>

          """
      }
      return """
        <article class="exchange" id="x-\(number)"><h3>\(finding.object ?? finding.migration)</h3>
        <p>\(message: finding.lines[0])</p><p class="meta">\(link(toMigration: finding.migration))</p>\(reason)
        <div class="turns">\(turns.joined())</div></article>

        """
    }
    return """
      <section id="devices"><h2>Two devices</h2>
      <p>A row goes from a device with one release to a device with another release. Lint \
      generated the rows; you can run each side in a <code>sqlite3</code> shell.</p>
      \(articles.joined())</section>

      """
  }
}
