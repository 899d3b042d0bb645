import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Growth", .thorough)
struct GrowthTests {
  @Test("the cost is measured by work and size, and no row is lost")
  func smallest() throws {
    let ended = try run("SchemaTorture", ["growth", "--tries", "5"])
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(ended.output.contains("| growth: move, the table is rebuilt | 1 | 0 |"))
    #expect(ended.errors.contains("| move, identity map | "))
  }
}
