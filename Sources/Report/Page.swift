import SchemaDiagram
import SchemaHistory
import SchemaLint
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Report {
  /// The page in UTF-8. It is readable without its script, which adds the search and the slider.
  package var page: [UInt8] { Array(Page(self).document.text.utf8) }
}

/// Writes the page.
struct Page {
  let report: Report
  /// The anchor of each table in `chronicle.tables`.
  let tableAnchors: [String]
  /// For each migration, by its index, the indexes of the tables that it changes.
  let tablesByStep: [Int: [Int]]
  private let liveTables: [Identifier: Int]

  var chronicle: Chronicle { report.chronicle }
  var uses: Uses { report.uses }

  init(_ report: Report) {
    self.report = report
    var anchors: [String] = []
    var live: [Identifier: Int] = [:]
    var steps: [Int: [Int]] = [:]
    var known: Set<ExactText> = []
    for (index, table) in report.chronicle.tables.enumerated() {
      var anchor = "t-" + table.name.anchor
      while !known.insert(anchor) { anchor += "-" }
      anchors.append(anchor)
      // A later table with the same name replaces an earlier one.
      live[table.name] = index
      let lives = [table.life] + table.parts.map(\.life)
      for step in Set(lives.flatMap { [$0.from, $0.until ?? $0.from] }) {
        steps[step, default: []].append(index)
      }
    }
    tableAnchors = anchors
    liveTables = live
    tablesByStep = steps
  }

  // MARK: Links

  func table(named name: String) -> Int? { liveTables[name] }

  /// Returns the name of a table as a link to it.
  func link(toTable name: String) -> HTML {
    guard let index = table(named: name) else { return "<code>\(name)</code>" }
    return "<a href=\"#\(tableAnchors[index])\"><code>\(name)</code></a>"
  }

  /// Returns the name of a table, a column or another object as a link to its table.
  func link(toObject name: String) -> HTML {
    if table(named: name) != nil { return link(toTable: name) }
    // `a.b.c` is a part of the table `a.b` if that table exists, and otherwise of `a`.
    let holders = liveTables.values.filter { name.hasPrefix(chronicle.tables[$0].name + ".") }
    let holder = holders.max { a, b in
      chronicle.tables[a].name.utf8.count < chronicle.tables[b].name.utf8.count
    }
    if let holder { return "<a href=\"#\(tableAnchors[holder])\"><code>\(name)</code></a>" }
    return "<code>\(name)</code>"
  }

  /// Returns the number of a migration as a link to it.
  func link(toMigration index: Int) -> HTML {
    guard chronicle.entries.indices.contains(index) else { return "" }
    let number = chronicle.entries[index].number
    return "<a href=\"#m-\(number.anchor)\">\(number)</a>"
  }

  /// Returns a link to a migration.
  ///
  /// - Parameter place: the text of the link; nil for the id of the migration.
  func link(toMigration id: String, at place: String? = nil) -> HTML {
    let index = chronicle.entries.firstIndex { $0.migration.id == id }
    let text = place ?? id
    return index.map { "<a href=\"#m-\(chronicle.entries[$0].number.anchor)\">\(text)</a>" }
      ?? "\(text)"
  }

  // MARK: The document

  var document: HTML {
    let title = "Schema of \(report.name)"
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
      script-src 'sha256-\(HTML(trusted: base64(ofHex: SHA256.hex(pageScript.utf8))))'">
      <meta name="color-scheme" content="light dark">
      <meta name="generator" content="schemactl \(ToolVersion.current)">
      <title>\(title)</title>
      <style>\(HTML(trusted: pageStyle))</style>
      </head>
      <body>
      <a class="skip" href="#content">Skip to the content</a>
      \(header(title))
      <main id="content">
      \(problems)\(draftSection)\(schemaSection)\(diagramSection)\(timelineSection)\(lintSection)\
      \(devicesSection)\(databaseSection)
      </main>
      <footer><p>Made by schemactl \(ToolVersion.current) with SQLite \(Connection.libraryVersion), \
      \(report.date). This page contains schemas and counts, but no values of rows.</p></footer>
      <script>\(HTML(trusted: pageScript))</script>
      </body>
      </html>

      """
  }

  private func header(_ title: String) -> HTML {
    let sections: [(anchor: String, name: String, isThere: Bool)] = [
      ("drafts", "Drafts", hasDrafts), ("schema", "Schema", true), ("diagram", "Diagram", true),
      ("timeline", "Timeline", true), ("lint", "Lint", true),
      ("devices", "Devices", !transcripts.isEmpty),
      ("database", "Database", report.database != nil),
    ]
    let links = sections.filter(\.isThere).map { section -> HTML in
      "<li><a href=\"#\(section.anchor)\">\(section.name)</a></li>"
    }
    return """
      <header class="top">
      <div class="bar">
      <h1>\(title)</h1>
      <nav aria-label="Sections"><ul>\(links.joined())</ul></nav>
      <form class="js search" role="search" hidden>
      <label class="vh" for="search">Search tables, columns, indexes, triggers and migrations</label>
      <input id="search" type="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false" \
      aria-controls="results">
      <div id="results" hidden><p id="found" role="status"></p><ul></ul></div>
      </form>
      </div>
      <ul class="figures">\(figures.joined())</ul>
      </header>
      """
  }

  private var figures: [HTML] {
    let tables = chronicle.tables.count { !$0.life.isOver }
    let releases = chronicle.stops.count(where: \.isRelease)
    let drafts = chronicle.entries.count { !$0.isFrozen }
    var figures: [HTML] = [
      figure(tables, "table", "schema"), figure(chronicle.entries.count, "migration", "timeline"),
      figure(releases, "release", "timeline"),
    ]
    if drafts > 0 { figures.append(figure(drafts, "draft", "drafts")) }
    let summary = report.lint.summary
    return figures + [
      figure(summary.errors, "lint error", "lint"), figure(summary.warnings, "warning", "lint"),
    ]
  }

  private func figure(_ count: Int, _ noun: String, _ anchor: String) -> HTML {
    "<li><a href=\"#\(anchor)\"><b>\(count)</b> \(noun)\(count == 1 ? "" : "s")</a></li>"
  }

  private var problems: HTML {
    var lines = report.problems
    if let failure = report.lint.failure {
      let place = failure.migration.map { " in \($0.id)" } ?? ""
      lines.insert("The replay ended early\(place): \(failure.lines[0])", at: 0)
    }
    guard !lines.isEmpty else { return "" }
    let items = lines.map { line -> HTML in "<li>\(message: line)</li>" }
    return
      "<section class=\"problems\" aria-label=\"Problems\"><ul>\(items.joined())</ul></section>"
  }

  private var diagramSection: HTML {
    let marks =
      chronicle.latestRelease.map {
        "The latest schema; colours and words mark changes since \($0.name)."
      } ?? "The latest schema."
    let picture: HTML =
      if let svg = report.svg {
        """
        <p>\(marks) The name of a table links to its columns.</p>
        <div class="picture" tabindex="0" role="region" aria-label="Diagram of the tables">\
        \(HTML(trusted: svg))</div>
        """
      } else {
        """
        <p>Graphviz is missing, so this is a list of the tables, each with the tables that its \
        foreign keys refer to.</p>\(neighbours)
        """
      }
    return """
      <section id="diagram"><h2>Diagram</h2>
      \(picture)
      <details><summary>Mermaid, for a pull request or a wiki</summary>\
      <pre tabindex="0"><code>\(lines: report.diagram.mermaid)</code></pre></details>
      </section>

      """
  }

  private var neighbours: HTML {
    let items = chronicle.tables.filter { !$0.life.isOver }.map { table -> HTML in
      let parents = table.foreignKeys.filter { !$0.part.life.isOver }.map {
        link(toTable: $0.key.table)
      }
      let list: HTML = parents.isEmpty ? "" : " refers to \(parents.joined(separator: ", "))"
      return "<li>\(link(toTable: table.name))\(list)</li>"
    }
    return "<ul class=\"columns\">\(items.joined())</ul>"
  }
}

extension String {
  /// The text as a part of an element id. Different texts have different anchors.
  var anchor: String {
    var anchor = ""
    for byte in utf8 {
      switch Unicode.Scalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "_", "-":
        anchor.unicodeScalars.append(Unicode.Scalar(byte))
      default: anchor += "." + String(byte, radix: 16) + "."
      }
    }
    return anchor
  }
}

/// Encodes a SHA-256 in Base64 (RFC 4648, section 4): three hexadecimal digits have the bits of two Base64
/// digits.
private func base64(ofHex hash: String) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  let hex = Array(hash + "00")
  let text = stride(from: 0, to: hex.count, by: 3).flatMap { start -> [Character] in
    let bits = Int(String(hex[start..<start + 3]), radix: 16) ?? 0
    return [digits[bits >> 6], digits[bits & 63]]
  }
  return String(text.dropLast()) + "="
}
