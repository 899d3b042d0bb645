import SchemaTestPrograms
import SchemaTestSupport

/// Migrates databases with rows between random schemas, and checks that the result has the
/// requested schema and all kept rows.
struct SchemaPairs: Campaign {
  static let name = "schema-pairs"

  /// The pairs are numbered from the seed on: `--seed N --tries 1` is pair N alone.
  static func run(_ run: Run) throws {
    var pair = run.seed
    while run.goesOn {
      run.note("schema pair", problem: try problem(of: pair))
      pair &+= 1
    }
  }

  private static func problem(of pair: UInt64) throws -> String? {
    do {
      return try SchemaPairTrial(seed: pair).problem()
    } catch {
      return "schema pair \(pair): \(error)"
    }
  }
}
