import Foundation
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// Headless Chromium.
struct Chromium {
  private static let names = ["chromium", "chromium-browser", "google-chrome"]

  static let program: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }()

  enum Theme: String, CaseIterable { case light = "1", dark = "0" }

  struct Visit {
    /// The document after its scripts ran.
    let document: String
    /// Messages of the console, including errors.
    let console: [String]
  }

  /// Opens a page from a file.
  static func open(
    _ file: String, theme: Theme = .light, width: Int = 1280, screenshot: String? = nil
  ) throws -> Visit {
    let profile = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: profile) }
    let output =
      screenshot.map { ["--screenshot=\($0)", "--hide-scrollbars"] } ?? ["--dump-dom"]
    let run = try start(
      try #require(program),
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=\(profile.path)",
        "--enable-logging=stderr", "--virtual-time-budget=20000",
        "--blink-settings=preferredColorScheme=\(theme.rawValue)",
        "--window-size=\(width),\(screenshot == nil ? 1000 : 1600)",
      ] + output + [URL(fileURLWithPath: file).absoluteString]
    ).wait()
    return Visit(
      document: run.output,
      console: run.errors.split(separator: "\n").map(String.init).filter { $0.contains("CONSOLE") })
  }

  /// Opens a copy of a page with an additional script of the test.
  ///
  /// - Returns: the lines that the script wrote with `note`.
  static func run(
    _ script: String, on page: String, theme: Theme = .light, width: Int = 1280
  ) throws -> [String] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).html")
    defer { try? FileManager.default.removeItem(at: file) }
    // The page's own policy allows no other scripts.
    var copy = page.replacing("http-equiv=\"Content-Security-Policy\"", with: "name=\"replaced\"")
    copy = copy.replacing(
      "</body>",
      with: """
        <pre id="test-notes"></pre><script>
        const note = text => { document.getElementById('test-notes').textContent += text + '\\n'; };
        try { \(script) } catch (error) { note('error: ' + error.message + error.stack); }
        note('end');
        </script></body>
        """)
    try copy.write(to: file, atomically: true, encoding: .utf8)
    let document = try open(file.path, theme: theme, width: width).document
    let start = try #require(document.firstRange(of: "<pre id=\"test-notes\">"))
    let end = try #require(document[start.upperBound...].firstRange(of: "</pre>"))
    let lines = document[start.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
    try #require(lines.last == "end", "the script did not come to its end: \(lines)")
    return lines.dropLast()
  }
}
