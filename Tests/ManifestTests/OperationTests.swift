import SchemaManifest
import Testing

@Suite("Decoding operations")
struct OperationTests {
  @Test("the sample contains every operation of the grammar, and each is decoded")
  func all() throws {
    let names = try decoded(everything).operations.map(\.name)
    #expect(Set(names) == Set(Grammar.operations.map(\.name)))
  }

  @Test("an operation is decoded with all its keys", arguments: expected)
  func decodes(index: Int, text: String) throws {
    let operations = try decoded(everything).operations
    #expect(shown(operations[index].kind) == text)
  }

  static let expected: [(Int, String)] = [
    (
      0,
      #"createTable({name: 'a', columns: [{name: 'id', type: 'INTEGER', primaryKey: true, autoincrement: true}, {name: 'b', type: 'TEXT', notNull: onConflict(replace), default: text(''), unique: true, check: sql(length(b) > 0), collate: 'NOCASE', references: {table: 'p', columns: ['id'], onDelete: cascade, onUpdate: noAction, deferrable: true}}, {name: 'c', notNull: plain, generated: {expression: sql(b || 'x'), stored: true}}, {name: 'd', default: null}, {name: 'e', default: sql(sql(uuid())), references: {table: 'p'}}, {name: 'f', default: blob([0, 255])}], unique: [['b', 'c'], ['d']], checks: [sql(b <> c), sql(1)], foreignKeys: [{columns: ['b', 'c'], reference: {table: 'p', columns: ['x', 'y'], onDelete: setNull, onUpdate: setDefault, deferrable: true}}], strict: true})"#
    ),
    (
      1,
      #"createTable({name: 'k', columns: [{name: 'x'}, {name: 'y'}], primaryKey: ['x', 'y'], withoutRowid: true})"#
    ),
    (2, #"dropTable(table: 'a')"#),
    (3, #"renameTable(table: 'a', to: 'b')"#),
    (4, #"addColumn(table: 'a', column: {name: 'z', type: 'REAL', default: real(1.5)})"#),
    (5, #"dropColumn(table: 'a', column: 'z')"#),
    (6, #"renameColumn(table: 'a', from: 'x', to: 'y')"#),
    (
      7,
      #"moveColumn({table: 'a', from: 'x', to: {name: 'y', type: 'INTEGER', notNull: plain, default: integer(0)}, mapping: map([{from: integer(0), to: integer(0)}, {from: integer(1), to: integer(1)}, {from: text('1'), to: integer(1)}, {from: null, to: integer(2)}, {from: real(1.5), to: integer(2)}, {from: text('true text'), to: integer(0)}]), keepSource: true, mirror: true, mapBack: [{from: integer(0), to: integer(0)}, {from: integer(1), to: integer(1)}, {from: integer(2), to: null}]})"#
    ),
    (
      8,
      #"moveColumn({table: 'a', from: 'x', to: {name: 'y'}, mapping: using(sql(upper(x))), renamesDependents: true})"#
    ),
    (
      9,
      #"alterColumn({table: 'a', column: 'x', type: set('TEXT'), notNull: set(plain), default: set(integer(7)), collate: set('BINARY'), check: set(sql(x > 0)), references: set({table: 'p', onDelete: restrict}), generated: set({expression: sql(y)})})"#
    ),
    (
      10,
      #"alterColumn({table: 'a', column: 'x', type: remove, notNull: remove, default: remove, collate: remove, check: remove, references: remove, generated: remove})"#
    ),
    (
      11,
      #"rebuildTable({table: {name: 'a', columns: [{name: 'x'}, {name: 'y'}], primaryKey: ['x'], unique: [['y']], checks: [sql(x <> y)], foreignKeys: [{columns: ['x'], reference: {table: 'p'}}], withoutRowid: true}, copy: [{column: 'x', expression: sql(id)}, {column: 'y', expression: sql(0)}], where: sql(x IS NOT NULL), rowsMayBeLost: true})"#
    ),
    (12, #"convertPrimaryKey({table: 'a', uuids: fromInteger})"#),
    (
      13,
      #"createIndex({name: 'i', table: 'a', columns: [{term: column('x')}, {term: column('y'), descending: true, collate: 'NOCASE'}, {term: expression(sql(lower(z)))}], unique: true, where: sql(x > 0)})"#
    ),
    (14, #"createView(name: 'v', sql: sql(CREATE VIEW v AS SELECT 1))"#),
    (
      15,
      #"createTrigger(name: 't', sql: sql(CREATE TRIGGER t AFTER INSERT ON a BEGIN\#n  SELECT 1;\#nEND\#n))"#
    ),
    (
      16,
      #"createVirtualTable(name: 'f', using: 'fts5', arguments: [sql(title), sql(content='a')])"#
    ),
    (17, #"dropIndex(name: 'i')"#),
    (18, #"dropView(name: 'v')"#),
    (19, #"dropTrigger(name: 't')"#),
    (20, #"dropVirtualTable(name: 'f')"#),
    (
      21,
      #"insert(table: 'a', rows: [[{column: 'x', value: integer(1)}, {column: 'y', value: null}, {column: 'z', value: text('text')}], [{column: 'x', value: integer(1)}, {column: 'y', value: sql(sql(uuid()))}, {column: 'z', value: blob([])}]])"#
    ),
    (
      22,
      #"update(table: 'a', set: [{column: 'x', expression: sql(x + 1)}, {column: 'y', expression: sql(NULL)}], where: sql(x > 0))"#
    ),
    (23, #"update(table: 'a', set: [{column: 'x', expression: sql(0)}], where: nil)"#),
    (24, #"delete(table: 'a', where: sql(1))"#),
    (25, #"delete(table: 'a', where: nil)"#),
    (26, #"sql([sql(SELECT 1)])"#),
    (27, #"sql([sql(SELECT 1), sql(SELECT 2; SELECT 3)])"#),
    (28, #"assert({query: sql(SELECT 1), equals: integer(1), message: 'One is one.'})"#),
  ]

  @Test("all operations of the sample are expected")
  func complete() throws {
    #expect(try decoded(everything).operations.count == Self.expected.count)
  }
}
