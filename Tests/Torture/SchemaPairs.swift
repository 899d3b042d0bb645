import SchemaTestPrograms
import SchemaTestSupport

/// Migrates databases with rows between random schemas. Checks that the result has the wanted schema and all
/// rows that both schemas can store.
struct SchemaPairs: Campaign {
  static let name = "schema-pairs"

  /// Numbers the pairs from the seed on: `--seed N --tries 1` runs only pair N.
  static func run(_ run: Run) throws {
    var pair = run.seed
    while run.mayContinue {
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
