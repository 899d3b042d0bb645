import SchemaModel
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Test("a schema is equal to itself", arguments: 0..<40 as Range<UInt64>)
func sameSchema(seed: UInt64) throws {
  var generator = SeededGenerator(seed: seed)
  let sql = GeneratedSchema(using: &generator).plain
  #expect(try changes(sql, sql) == [], "seed \(seed):\n\(sql)")
  let schema = try schema(sql)
  #expect(compareSchemas(expected: schema, actual: schema) == [])
  #expect(SchemaDelta(from: schema, to: schema).isEmpty)
}

@Test(
  "quoting, case, white space, comments and places of constraints make no difference",
  arguments: seeds(10, of: 80))
func respelled(seed: UInt64) throws {
  var generator = SeededGenerator(seed: seed)
  let generated = GeneratedSchema(using: &generator)
  let other = generated.respelled(using: &generator)
  #expect(
    try changes(generated.plain, other) == [], "seed \(seed):\n\(generated.plain)\n\n\(other)")
  #expect(try changes(other, generated.plain) == [], "seed \(seed)")
}

@Test(
  "a delta that is applied to the old schema gives the new one",
  arguments: oneIn(15, of: 0..<40 as Range<UInt64>))
func applied(seed: UInt64) throws {
  var generator = SeededGenerator(seed: seed)
  let old = try schema(GeneratedSchema(using: &generator, tables: 5).plain)
  let new = try schema(GeneratedSchema(using: &generator, tables: 5).plain)
  let result = SchemaDelta(from: old, to: new).applied(to: old).ours()
  #expect(compareSchemas(expected: new, actual: result) == [], "seed \(seed)")
  #expect(result.fingerprint() == new.fingerprint(), "seed \(seed)")
  #expect(result.objects.count == new.ours().objects.count, "seed \(seed)")
  #expect(result == SchemaDelta(from: old, to: new).applied(to: old).ours(), "the order is settled")
}

@Test(
  "a removed object is missing, and a new one unexpected",
  arguments: oneIn(8, of: 0..<20 as Range<UInt64>))
func oneObject(seed: UInt64) throws {
  var generator = SeededGenerator(seed: seed)
  let whole = try schema(GeneratedSchema(using: &generator).plain).ours()
  for index in whole.objects.indices {
    var part = whole
    let object = part.objects.remove(at: index)
    let gone = compareSchemas(expected: whole, actual: part)
    #expect(gone.map(\.object) == [object.name], "seed \(seed)")
    #expect(gone.map(\.change) == [.missing] && gone.map(\.kind.rawValue) == [object.kind.rawValue])
    let new = compareSchemas(expected: part, actual: whole)
    #expect(
      new.map(\.object) == [object.name] && new.map(\.change) == [.unexpected], "seed \(seed)")
    #expect(part.fingerprint() != whole.fingerprint())
  }
}

// MARK: Deltas

@Test("a delta contains removed and new objects, and both sides of changed ones")
func delta() throws {
  let old = try schema(
    "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); CREATE INDEX i ON a(x)")
  let new = try schema(
    "CREATE TABLE a(x); CREATE TABLE B(x, y); CREATE TABLE d(x); CREATE VIEW i AS SELECT 1")
  let delta = SchemaDelta(from: old, to: new)
  func names(_ objects: [SchemaDelta.Key: SchemaObject]) -> [String] {
    objects.map { "\($0.kind.rawValue) \($0.name) \($1.name)" }.sorted()
  }
  #expect(names(delta.before) == ["index i i", "table b b", "table c c"])
  #expect(names(delta.after) == ["table B B", "table d d", "view i i"])
  #expect(delta.applied(to: old).objects.map(\.name) == ["a", "B", "d", "i"])
  #expect(delta.keys.count == 5)
}

@Test("two deltas are equal if their results are equal")
func sameChange() throws {
  let empty = Schema()
  func made(_ sql: String) throws -> SchemaDelta { SchemaDelta(from: empty, to: try schema(sql)) }
  let one = try made("CREATE TABLE t(a, \"b\" INT)")
  #expect(one.doesTheSame(as: try made("CREATE TABLE [T] ( A, b int ) -- c")))
  #expect(!one.doesTheSame(as: try made("CREATE TABLE t(a, b INTEGER)")))
  #expect(!one.doesTheSame(as: try made("CREATE TABLE t(a, b INT); CREATE TABLE u(a)")))
  #expect(!one.doesTheSame(as: SchemaDelta()))
  // The same result from another base.
  let base = try schema("CREATE TABLE other(a)")
  let both = try schema("CREATE TABLE other(a); CREATE TABLE t(a, b INT)")
  #expect(one.doesTheSame(as: SchemaDelta(from: base, to: both)))
  #expect(!one.doesTheSame(as: SchemaDelta(from: both, to: base)))
}
