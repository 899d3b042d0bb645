import Foundation
import SchemaHistory
import SchemaJSONChecking
import SchemaLint
import SchemaPlanning
import SchemaTestPrograms
import SchemaTimeline
import Testing

private let schemas = repository.appendingPathComponent("docs/json")

@Suite("Words of the JSON schemas")
struct SchemaWordsTests {
  @Test(
    "the schemas list the same words as the program",
    arguments: [
      ("common", ["definitions", "ledgerEntry", "properties", "state"], LedgerState.words),
      ("common", ["definitions", "strategy"], Strategy.words),
      ("verify", ["properties", "history", "items", "properties", "state"], HistoryState.words),
    ])
  func words(schema: String, path: [String], words: Set<String>) throws {
    let file = schemas.appendingPathComponent("\(schema).schema.json")
    let place = try path.reduce(JSONTree(contentsOf: file) as JSONTree?) { $0?[$1] }
    #expect(place?["enum"]?.texts == words)
  }

  @Test("the schemas list the profiles and severities of the program")
  func otherWords() throws {
    let lint = try JSONTree(contentsOf: schemas.appendingPathComponent("lint.schema.json"))
    #expect(lint["properties"]?["profile"]?["enum"]?.texts == Profile.words)
    let common = try JSONTree(contentsOf: schemas.appendingPathComponent("common.schema.json"))
    let severity = common["definitions"]?["finding"]?["properties"]?["severity"]
    #expect(severity?["enum"]?.texts == Severity.words.subtracting(["off"]))
  }
}

extension CaseIterable where Self: RawRepresentable<String> {
  fileprivate static var words: Set<String> { Set(allCases.map(\.rawValue)) }
}

extension JSONTree {
  fileprivate var texts: Set<String> {
    guard case .array(let elements) = self else { return [] }
    return Set(elements.compactMap { if case .string(let text) = $0 { text } else { nil } })
  }
}
