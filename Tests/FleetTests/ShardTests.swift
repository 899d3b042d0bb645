import SchemaFleet
import Testing

@Suite("Shards")
struct ShardTests {
  @Test("every name belongs to exactly one shard", arguments: [1, 2, 3, 7, 100])
  func partition(count: Int) throws {
    let shards = try (1...count).map { try #require(Shard("\($0)/\(count)")) }
    for number in 0..<200 {
      let name = "tenants/é \(number).sqlite"
      #expect(shards.filter { $0.contains(name) }.count == 1)
    }
  }

  @Test("the shards of a list have similar sizes")
  func balance() throws {
    let shard = try #require(Shard("1/4"))
    let own = (0..<4000).filter { shard.contains("tenants/\($0).sqlite") }.count
    #expect((900...1100).contains(own))
  }

  @Test(
    "an argument other than I/N with I from 1 to N is refused",
    arguments: ["", "1", "0/2", "3/2", "1/0", "-1/2", "+1/2", "1/2/3", "a/b", "1 /2", "1/"])
  func invalid(text: String) {
    #expect(Shard(text) == nil)
  }
}
