import SchemaManifest
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Hostile input")
struct HostileInputTests {
  @Test("bytes that are not UTF-8 are refused at their position")
  func notUTF8() {
    #expect(
      problems([0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10]) == [
        "m.yaml:1:1: error: the file is not UTF-8 (invalid leading UTF-8 octet): save it as UTF-8"
      ])
    #expect(
      problems(Array("a: é\n  b: ".utf8) + [0xC3, 0x28]) == [
        "m.yaml:2:7: error: the file is not UTF-8 (invalid trailing UTF-8 octet): save it as UTF-8"
      ])
    #expect(
      problems([0xFE, 0xFF, 0x00, 0x61]) == [
        "m.yaml:1:1: error: the file is not UTF-8 (invalid leading UTF-8 octet): save it as UTF-8"
      ])
    #expect(
      problems([0x61, 0xE2, 0x82]) == [
        "m.yaml:1:2: error: the file is not UTF-8 (incomplete UTF-8 octet sequence): save it as UTF-8"
      ])
  }

  @Test("a NUL in the file is refused at its position")
  func rawNUL() {
    #expect(
      problems("operations: []\ndescription: a\0b") == [
        "m.yaml:2:15: error: the control character U+0000 is not allowed in YAML: write it as an "
          + "escape in double quotes"
      ])
  }

  @Test("a file of more than 8 MiB is refused before it is parsed")
  func tooLarge() {
    #expect(
      problems([UInt8](repeating: UInt8(ascii: "["), count: 50_000_000)) == [
        "m.yaml: error: the file has 50000000 bytes, but the limit is 8388608 bytes (8 MiB)"
      ])
  }

  @Test(
    "nesting beyond 64 levels is refused at any depth",
    arguments: ["[", "{a: ", "- ", "? ", "[\n", "[&a "])
  func depth(opening: String) {
    let found = problems(String(repeating: opening, count: 100_000))
    #expect(found.count == 1)
    #expect(found.first?.hasSuffix("the document is nested more than 64 levels deep") == true)
  }

  @Test("64 levels are accepted")
  func allowedDepth() {
    let found = problems(
      "operations: \(String(repeating: "[", count: 63))\(String(repeating: "]", count: 63))")
    #expect(
      found == [
        "m.yaml:1:14: error: an operation must be a mapping such as `drop_table: { table: … }`, "
          + "not a list"
      ])
  }

  @Test("depth includes aliases")
  func depthByAlias() {
    var yaml = "a0: &a0 [1]\n"
    for level in 1...64 { yaml += "a\(level): &a\(level) [*a\(level - 1)]\n" }
    #expect(
      problems(yaml) == [
        "m.yaml:63:12: error: the document is nested more than 64 levels deep"
      ])
  }

  @Test("exponentially expanding aliases are refused")
  func billionLaughs() {
    var yaml = "a0: &a0 lol\n"
    for level in 1...30 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      yaml += "a\(level): &a\(level) [\(aliases)]\n"
    }
    #expect(
      problems(yaml) == [
        "m.yaml:7:45: error: the document is too large: it has more than 1000000 nodes, aliases "
          + "expanded"
      ])
  }

  @Test("aliases of a long text count with its length")
  func longText() {
    let text = String(repeating: "x", count: 1_000_000)
    let aliases = Array(repeating: "*a", count: 100_000).joined(separator: ",")
    let found = problems("description: &a \(text)\noperations: [\(aliases)]")
    #expect(found.count == 1)
    #expect(found.first?.contains("more than 1000000 nodes") == true)
  }

  @Test("an unknown key of a megabyte is shortened to forty characters")
  func longKey() {
    let found = problems("? \(String(repeating: "k", count: 1_000_000))\n: 1\noperations: []")
    #expect(found.count == 1)
    #expect(found.first.map { $0.utf8.count < 300 } == true)
  }

  @Test("directives that cost libyaml quadratic time are refused")
  func directives() {
    var yaml = "operations: []\n...\n"
    for number in 0..<200_000 { yaml += "%TAG !t\(number)! x\n" }
    #expect(problems(yaml) == ["m.yaml:3:1: error: directives are not supported: remove this line"])
  }

  @Test("a manifest that is truncated anywhere is decoded or refused", arguments: seeds(1, of: 7))
  func truncated(from start: UInt64) {
    let bytes = Array(everything.utf8)
    for count in stride(from: Int(start), to: bytes.count, by: 7) {
      let found = problems(Array(bytes.prefix(count)))
      #expect(found.allSatisfy { $0.hasPrefix("m.yaml:") })
    }
  }

  @Test(
    "a manifest with changed, removed or repeated bytes is decoded or refused",
    arguments: seeds(1, of: 8))
  func mutated(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    let good = Array(everything.utf8)
    let special = Array("[]{}:,-?&*!|>'\"%@`#\n\t ~<0\0\u{85}\u{2028}é".utf8)
    for _ in 0..<500 {
      var bytes = good
      for _ in 0...Int.random(in: 0..<4, using: &numbers) {
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        let end = min(bytes.count, place + Int.random(in: 0..<40, using: &numbers))
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: bytes[place] = special.randomElement(using: &numbers) ?? 0
        case 1: bytes[place] = UInt8.random(in: .min ... .max, using: &numbers)
        case 2: bytes.removeSubrange(place..<end)
        default: bytes.insert(contentsOf: bytes[place..<end], at: place)
        }
      }
      #expect(problems(bytes).allSatisfy { $0.hasPrefix("m.yaml:") })
    }
  }

  @Test("positions of problems lie within the file and are in order", arguments: seeds(1, of: 4))
  func positionsInFile(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    let good = everything.split(separator: "\n", omittingEmptySubsequences: false)
    for _ in 0..<200 {
      var lines = good
      lines.swapAt(
        Int.random(in: lines.indices, using: &numbers),
        Int.random(in: lines.indices, using: &numbers))
      do {
        _ = try decoded(lines.joined(separator: "\n"))
      } catch let error as InvalidInput {
        let positions = error.diagnostics.compactMap(\.position)
        #expect(positions.count == error.diagnostics.count)
        #expect(positions == positions.sorted())
        for position in positions {
          let isEnd = position.line == lines.count + 1
          #expect(isEnd || (1...lines.count).contains(position.line))
          let line = isEnd ? "" : lines[position.line - 1]
          #expect((1...line.unicodeScalars.count + 1).contains(position.column))
        }
      } catch {
        Issue.record(error)
      }
    }
  }
}
