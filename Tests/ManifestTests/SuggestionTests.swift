import SchemaSQLText
import Testing

@Suite("Suggestions")
struct SuggestionTests {
  @Test(
    "a similar word is suggested",
    arguments: [
      ("tabel", "table"), ("talbe", "table"), ("tables", "table"), ("TABLE", "table"),
      ("nam", "name"), ("colum", "column"), ("primarykey", "primary_key"), ("x", nil), ("", nil),
      ("zzzzz", nil), ("to", "to"), ("tablespaces", nil),
      ("create_virtualtabel", "create_virtual_table"),
    ])
  func nearest(word: String, expected: String?) {
    let words = ["table", "name", "column", "primary_key", "to", "create_virtual_table"]
    #expect(suggestion(for: word, among: words) == expected)
  }

  @Test("the distance to itself is zero, and an edit has a distance of at most two")
  func edits() {
    var numbers = SeededNumbers(seed: 7)
    let word = Array("foreign_keys".utf8)
    for _ in 0..<500 {
      var edited = word
      for _ in 0..<2 {
        let place = Int.random(in: 0..<edited.count - 1, using: &numbers)
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: edited.remove(at: place)
        case 1: edited.insert(UInt8(ascii: "x"), at: place)
        case 2: edited[place] = UInt8(ascii: "x")
        default: edited.swapAt(place, place + 1)
        }
      }
      let text = String(decoding: edited, as: UTF8.self)
      #expect(suggestion(for: text, among: ["zebra", "foreign_keys"]) == "foreign_keys")
    }
  }
}
