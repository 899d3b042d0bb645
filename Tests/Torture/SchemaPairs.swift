import SchemaTestSupport

/// Databases with rows that are led from one schema to another: what comes out is the schema that was
/// asked for, with every row of what stays.
struct SchemaPairs: Campaign {
  static let name = "schema-pairs"

  /// The pairs have the numbers from the seed on: `--seed N --tries 1` is pair N alone.
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
