import Foundation
import SchemaHistory
import SchemaLint
import SchemaReplay
import SchemaReport
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

/// Opens the page in headless Chromium.
@Suite(
  "The report in a browser", .thorough, .enabled(if: Chromium.program != nil, "needs Chromium"))
struct BrowserTests {
  @Test(
    "it opens without console messages and runs its script",
    arguments: Chromium.Theme.allCases)
  func opens(theme: Chromium.Theme) throws {
    let file = try Folder.file(of: try page())
    defer { Folder.remove(file) }
    let visit = try Chromium.open(file, theme: theme)
    #expect(visit.console.isEmpty, "\(visit.console)")
    #expect(visit.document.contains("data-ready=\"1\""))
  }

  @Test("every link leads to a part of the page, and no other resource is requested")
  func links() throws {
    let notes = try Chromium.run(
      """
      const ids = new Set();
      for (const element of document.querySelectorAll('[id]')) {
        if (ids.has(element.id)) note('two elements have the id ' + element.id);
        ids.add(element.id);
      }
      for (const link of document.querySelectorAll('a')) {
        const href = link.getAttribute('href') || link.getAttribute('xlink:href') || '';
        if (!href.startsWith('#')) note('leaves the page: ' + href);
        else if (!document.getElementById(decodeURIComponent(href.slice(1)))) note('leads nowhere: ' + href);
      }
      for (const element of document.querySelectorAll('[src],link,iframe,object,embed,form[action]')) note('requests: ' + element.outerHTML);
      for (const entry of performance.getEntriesByType('resource')) note('requested: ' + entry.name);
      """, on: try page())
    #expect(notes == [])
  }

  @Test("a click on each link shows its target")
  func targets() throws {
    let notes = try Chromium.run(
      """
      const hrefs = new Set(Array.from(document.querySelectorAll('a[href^="#"]'), link => link.getAttribute('href')));
      for (const href of hrefs) {
        const link = document.querySelector('a[href="' + href + '"]');
        location.hash = href;
        window.dispatchEvent(new HashChangeEvent('hashchange'));
        const target = document.getElementById(decodeURIComponent(href.slice(1)));
        if (target.getClientRects().length === 0) note('is not shown: ' + href);
      }
      """, on: try page())
    #expect(notes == [])
  }

  @Test("the slider changes the schema and marks the differences")
  func slider() throws {
    let notes = try Chromium.run(
      """
      const range = document.getElementById('at');
      const go = value => { range.value = value; range.dispatchEvent(new Event('input', { bubbles: true })); };
      const columns = () => Array.from(document.querySelectorAll('#t-reminders tbody tr'))
        .filter(row => !row.hidden && !row.matches('.is-dropped,.is-before'))
        .map(row => row.querySelector('th').firstChild.textContent);
      const marks = () => Array.from(document.querySelectorAll('#t-reminders tbody tr'))
        .filter(row => !row.hidden && row.querySelector('.mark'))
        .map(row => row.querySelector('th').firstChild.textContent + ' ' + row.querySelector('.mark').textContent);
      note('stops ' + (+range.max + 1));
      go(0); note(document.getElementById('where').textContent + ': ' + columns().includes('status') + ' ' + columns().includes('isCompleted'));
      go(range.max); note(document.getElementById('where').textContent + ': ' + columns().includes('status') + ' ' + columns().includes('isCompleted'));
      note(marks().sort().join(', '));
      document.querySelector('input[name=unit][value=m]').click();
      note('stops ' + (+range.max + 1));
      go(0); note(document.getElementById('t-tags').hidden);
      document.querySelector('button[data-at="2"]').click(); note(document.getElementById('t-tags').hidden);
      """, on: try page())
    #expect(
      notes == [
        "stops 3", "1.0: false true", "drafts: true false", "isCompleted dropped, status new",
        "stops 7", "true", "false",
      ])
  }

  @Test("a renamed table and a new definition of a view are changes")
  func renaming() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_a", "CREATE TABLE kv (k TEXT PRIMARY KEY); CREATE VIEW keys AS SELECT k FROM kv")
    try sandbox.addSQL(
      "0002_b",
      "DROP VIEW keys; ALTER TABLE kv RENAME TO pairs; CREATE VIEW keys AS SELECT upper(k) FROM pairs"
    )
    let notes = try Chromium.run(
      """
      const shown = () => Array.from(document.querySelectorAll('.tables > article'))
        .filter(article => !article.hidden)
        .map(article => article.querySelector('h3').firstChild.textContent + ' ' + (article.querySelector('h3 ~ .mark') || { textContent: 'same' }).textContent);
      note(shown().join(', '));
      note(document.getElementById('summary').textContent);
      note(document.querySelector('#t-kv .meta').textContent);
      note(Array.from(document.querySelectorAll('.index li:not([hidden]) a'), link => link.textContent).join(', '));
      """, on: try sandbox.page())
    #expect(
      notes == [
        "pairs changed, keys changed", "2 tables and views: 0 new, 2 changed, 0 dropped",
        "Added in 0001, renamed to pairs in 0002", "pairs, keys",
      ])
  }

  @Test("three questions of a reviewer take at most three clicks, on a hundred tables")
  func clicks() throws {
    let notes = try Chromium.run(
      """
      let clicks = 0;
      const follow = link => {
        clicks++;
        location.hash = link.hash;
        window.dispatchEvent(new HashChangeEvent('hashchange'));
      };
      const answer = element => {
        const { top, bottom } = element.getBoundingClientRect();
        const isVisible = bottom > 0 && top < innerHeight;
        note((isVisible ? '' : 'not visible: ') + element.textContent.replace(/\\s+/g, ' ') + (clicks <= 3 ? '' : ' after ' + clicks + ' clicks'));
        clicks = 0;
      };
      // When was a column added?
      const field = document.getElementById('search');
      field.click(); clicks++;
      field.value = 'extra142';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      follow(document.querySelector('#results a'));
      answer(Array.from(document.querySelectorAll('tr')).find(row => row.textContent.startsWith('extra142')));
      // What refers to a table?
      follow(document.querySelector('.index a[href="#t-table34"]'));
      answer(Array.from(document.querySelectorAll('#t-table34 .group')).find(group => group.textContent.startsWith('Referred')));
      // What does the latest draft change?
      follow(document.querySelector('nav a[href="#drafts"]'));
      follow(document.querySelector('.drafts > li:last-child a'));
      answer(document.querySelector('.at-target .changes'));
      """, on: try Sandbox.large().page())
    let users = (35...41).map { "table\($0).parent 00\($0 + 1)" }.joined()
    #expect(
      notes == [
        "extra142TEXT0142", "Referred to by" + users, "new index table99_300 of table99",
      ])
  }

  @Test("search finds tables, columns and migrations, with the keyboard, too")
  func search() throws {
    let notes = try Chromium.run(
      """
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
      const field = document.getElementById('search');
      note(document.activeElement === field);
      const find = text => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); return Array.from(document.querySelectorAll('#results a'), link => link.textContent); };
      note(find('status')[0]);
      note(find('coverImages')[0]);
      note(find('0004')[0]);
      note(find('zzzz').length + ' ' + document.getElementById('found').textContent);
      find('isCompleted');
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
      note(document.activeElement === document.querySelector('#results a'));
      """, on: try page())
    #expect(
      notes == [
        "true", "columnreminders.status", "tablecoverImages", "migration0004_order_lists",
        "0 Nothing found", "true",
      ])
  }

  @Test(
    "texts contrast with their background, and controls have names",
    arguments: Chromium.Theme.allCases,
    [1280, 390])
  func accessibility(theme: Chromium.Theme, width: Int) throws {
    let notes = try Chromium.run(Self.checks, on: try page(), theme: theme, width: width)
    #expect(notes == [])
  }

  @Test("without its script the page shows everything")
  func withoutScript() throws {
    let page = try page()
    let start = try #require(page.firstRange(of: "<script>"))
    let file = try Folder.file(of: String(page[..<start.lowerBound]) + "</body></html>")
    defer { Folder.remove(file) }
    let document = try Chromium.open(file).document
    #expect(document.contains("id=\"t-reminders\""))
    // Controls that need the script are hidden.
    #expect(document.contains("class=\"js slider\" hidden"))
    #expect(document.contains("0007_replace_is_completed_with_status"))
  }

  @Test(
    "Graphviz's SVG of many schemas is drawn", .enabled(if: isGraphvizInstalled, "needs Graphviz"))
  func drawings() throws {
    var images = ""
    for seed in 0..<20 as Range<UInt64> {
      let sql = VariedSchema(seed: seed).whole.map { $0 + ";\n" }.joined()
      let folder = try Folder()
      try sql.write(toFile: folder.path + "/s.sql", atomically: true, encoding: .utf8)
      let run = try start(
        "schemactl", ["diagram", "--file", "s.sql", "--format", "svg"], in: folder.path
      ).wait()
      #expect(run.code == 0, "\(run.errors)")
      images +=
        "<img alt=\"\(seed)\" src=\"data:image/svg+xml;base64,\(Data(run.output.utf8).base64EncodedString())\">"
    }
    let notes = try Chromium.run(
      "for (const image of document.images) if (!image.complete || !image.naturalWidth) note('is not drawn: ' + image.alt);",
      on: "<!DOCTYPE html><body>\(images)</body>")
    #expect(notes == [])
  }

  @Test(
    "screenshots are kept in .build/screenshots", arguments: Chromium.Theme.allCases, [1280, 390])
  func screenshots(theme: Chromium.Theme, width: Int) throws {
    let folder = repository.path + "/.build/screenshots"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for view in ["schema", "diagram", "timeline", "lint", "devices", "database"] {
      let file = try Folder.file(
        of: try page().replacing(
          "</style>", with: "main>section:not(#\(view)){display:none}</style>"))
      defer { Folder.remove(file) }
      let image = "\(folder)/report-\(view)-\(theme)-\(width).png"
      _ = try Chromium.open(file, theme: theme, width: width, screenshot: image)
      #expect(FileManager.default.fileExists(atPath: image))
    }
  }

  // MARK: The page

  private func page() throws -> String {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(release: "1.0", through: "0004")
    try sandbox.freeze(release: "1.1", through: "0006")
    try sandbox.makeRelease1()
    try sandbox.run(
      "ALTER TABLE tags ADD COLUMN stray TEXT; CREATE INDEX strayIndex ON tags (stray)")
    return try sandbox.page(database: sandbox.database)
  }

  /// Checks similar to those of axe-core.
  private static let checks = """
    const parse = text => { const parts = text.match(/[\\d.]+/g).map(Number); return parts.length < 4 ? parts.concat(1) : parts; };
    const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
    const behind = element => { for (let outer = element; outer; outer = outer.parentElement) { const colour = parse(getComputedStyle(outer).backgroundColor); if (colour[3] === 1) return colour; } return [255, 255, 255, 1]; };
    const name = element => element.getAttribute('aria-label') || (element.labels && element.labels.length ? element.labels[0].textContent : '') || element.textContent.trim() || element.title;
    for (const details of document.querySelectorAll('details')) details.open = true;
    const seen = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.textContent.trim() || !element.getClientRects().length || element.closest('#test-notes,script,svg')) continue;
      const style = getComputedStyle(element);
      const a = light(parse(style.color)), b = light(behind(element));
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const key = style.color + behind(element).join();
      if (ratio < 4.5 && !seen.has(key)) { seen.add(key); note('contrast ' + ratio.toFixed(2) + ': ' + element.outerHTML.slice(0, 120)); }
    }
    for (const control of document.querySelectorAll('input,select,button,a[href],summary')) {
      if (control.getClientRects().length && !(name(control) || '').trim()) note('without a name: ' + control.outerHTML.slice(0, 120));
    }
    for (const area of document.querySelectorAll('[tabindex="0"],pre')) {
      const style = getComputedStyle(area);
      if (area.scrollWidth > area.clientWidth + 1 && area.getAttribute('tabindex') !== '0' && area.id !== 'test-notes') note('cannot be scrolled by the keyboard: ' + area.outerHTML.slice(0, 80));
    }
    if (!document.documentElement.lang) note('no language');
    if (!document.title) note('no title');
    if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1) note('main or h1 is not there once');
    let level = 1;
    for (const heading of document.querySelectorAll('h1,h2,h3,h4,h5,h6')) {
      if (!heading.getClientRects().length) continue;
      const own = +heading.tagName[1];
      if (own > level + 1) note('heading skips a level: ' + heading.outerHTML.slice(0, 100));
      level = own;
    }
    for (const table of document.querySelectorAll('table')) if (!table.querySelector('th[scope]')) note('a table without headers');
    for (const list of document.querySelectorAll('ul,ol')) for (const child of list.children) if (child.tagName !== 'LI') note('not a list item: ' + child.outerHTML.slice(0, 80));
    if (document.documentElement.scrollWidth > innerWidth + 1) note('wider than the window: ' + document.documentElement.scrollWidth + ' of ' + innerWidth);
    """
}

/// A temporary folder.
private final class Folder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  static func file(of page: String) throws -> String {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).html")
    try page.write(to: url, atomically: true, encoding: .utf8)
    return url.path
  }

  static func remove(_ file: String) { try? FileManager.default.removeItem(atPath: file) }
}
