import Foundation
import Testing

/// Compares a text with a file in the folder `Golden` beside the test. With UPDATE_GOLDEN=1 it writes
/// the file instead.
package func expectGolden(
  _ text: String, _ name: String, test: String = #filePath,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(fileURLWithPath: test).deletingLastPathComponent()
    .appendingPathComponent("Golden").appendingPathComponent(name)
  if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
    try Data(text.utf8).write(to: file)
  }
  let golden = (try? String(contentsOf: file, encoding: .utf8)) ?? "there is no \(name)"
  #expect(text == golden, sourceLocation: sourceLocation)
}
