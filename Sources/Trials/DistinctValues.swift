import SchemaSQLText
import SchemaSQLite

/// Values in the order of their first occurrence.
struct DistinctValues: ExpressibleByArrayLiteral {
  private(set) var all: [Value] = []
  private var known: Set<Value> = []

  init(_ values: [Value]) { for value in values { append(value) } }

  init(arrayLiteral values: Value...) { self.init(values) }

  mutating func append(_ value: Value) {
    if known.insert(value).inserted { all.append(value) }
  }

  func contains(_ value: Value) -> Bool { known.contains(value) }
}
