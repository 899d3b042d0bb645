import Foundation
import SchemaModel
import SchemaTestSupport
import Testing

@Test(
  "the digests of NIST's examples are correct",
  arguments: [
    ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlm"
        + "nopqrsmnopqrstnopqrstu", 1,
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
    ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ])
func examples(text: String, count: Int, digest: String) {
  #expect(SHA256.hex(String(repeating: text, count: count).utf8) == digest)
}

@Test(
  "inputs of every length have the digest of sha256sum",
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sha256sum")))
func lengths() throws {
  var generator = SeededGenerator(seed: 256)
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  var expected = ""
  let names = (0...300).map { String($0) }
  for name in names {
    let bytes = (0..<(Int(name) ?? 0)).map { _ in UInt8.random(in: .min ... .max, using: &generator)
    }
    try Data(bytes).write(to: folder.appendingPathComponent(name))
    expected += "\(SHA256.hex(bytes))  \(name)\n"
  }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
  process.arguments = names
  process.currentDirectoryURL = folder
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  #expect(String(decoding: output, as: UTF8.self) == expected)
}
