import Foundation
import SchemaFuzzing
import Testing

/// The initial inputs of `make fuzz`, and its findings.
@Suite("Corpora of the fuzzer")
struct CorpusTests {
  @Test(
    "every input satisfies the assertions of its target", arguments: fuzzTargets.map { $0.name })
  func replay(name: String) throws {
    let target = try #require(fuzzTargets.first { $0.name == name })
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Fuzzing/Corpora/\(name)")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      #expect(throws: Never.self, "\(file.lastPathComponent)") { try target.take(bytes) }
    }
  }
}
