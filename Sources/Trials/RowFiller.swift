import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Fills tables of a private database with marked rows.
///
/// If a CHECK or a trigger refuses a row, it tries other values: first the marks in other forms.
struct RowFiller {
  private let connection: Connection
  private let schema: Schema
  private let text: StepText
  let kinds: [RowKind]
  /// The schema after the migration, for values near the limits of both schemas.
  private let later: Schema
  private(set) var marks: MarkMaker
  private(set) var filled: [Identifier: FilledDatabase.Table] = [:]
  private(set) var references: [Identifier: [DeviceTable.Reference]] = [:]
  /// The values that a column accepts instead of marks, by table and column.
  private var accepted: [[Identifier]: [Value]] = [:]
  private var shapes: [Identifier: DeviceTable] = [:]
  private var seeded: Set<Identifier> = []

  /// - Parameters:
  ///   - kinds: the kinds of rows that each table gets.
  ///   - marks: the marks of an earlier filler of the same database, which this filler continues.
  init(
    _ connection: Connection, _ schema: Schema, _ text: StepText, kinds: [RowKind],
    marks: MarkMaker = MarkMaker(), later: Schema = Schema()
  ) {
    self.connection = connection
    self.marks = marks
    self.later = later
    self.schema = schema
    self.text = text
    self.kinds = kinds
  }

  /// Fills the empty tables among these tables and the tables that they refer to.
  ///
  /// - Parameter seeded: tables that get rows in addition to their existing rows. Other tables refer only to
  ///   existing rows.
  mutating func fill(
    _ tables: [Identifier], beside seeded: Set<Identifier> = []
  ) throws(DatabaseError) {
    self.seeded = seeded
    for name in tables { try describe(name) }
    references = FilledDatabase.references(of: shapes, text)
    for (name, shape) in shapes {
      let key = try key(of: shape)
      guard !key.isEmpty else { continue }
      var table = FilledDatabase.Table(shape: shape, key: key)
      table.rows = try connection.rows(
        "SELECT \(key.joined(separator: ", ")) FROM main.\(Quoting.quoted(shape.name)) LIMIT 8"
      ).map { FilledDatabase.Row(kind: .seeded, address: table.address($0)) }
      if !table.rows.isEmpty { filled[name] = table }
    }
    connection.set(.foreignKeys, to: false)
    try connection.execute("BEGIN")
    for table in tables { try fill(table, within: []) }
    // A trigger may have ended the transaction.
    if connection.isInTransaction { try connection.execute("COMMIT") }
  }

  private mutating func describe(_ name: Identifier) throws(DatabaseError) {
    guard shapes[name] == nil, let table = schema.table(name.text), !table.isVirtualTable else {
      return
    }
    let shape = try DeviceTable(table.name, on: connection)
    shapes[name] = shape
    for key in shape.foreignKeys { try describe(key.parent) }
  }

  private mutating func fill(
    _ name: Identifier, within path: [Identifier]
  ) throws(DatabaseError) {
    guard let shape = shapes[name], !path.contains(name) else { return }
    let own = filled[name]?.rows ?? []
    let hasOnlySeededRows = seeded.contains(name) && own.allSatisfy { $0.kind == .seeded }
    guard hasOnlySeededRows || filled[name] == nil else { return }
    for reference in references[name] ?? [] where reference.parent != name {
      try fill(reference.parent, within: path + [name])
    }
    let hints = ValueHints(
      (schema.objects + later.objects).filter {
        [.table, .index].contains($0.kind) && $0.table.identifier == name
      })
    filled[name] = FilledDatabase.Table(
      shape: shape, key: try key(of: shape), hints: hints.values, rows: own)
    let candidates = try Candidates(shape, hints: hints, connection)
    let source = try Origin(
      shape: shape, candidates: candidates, distinct: shape.distinctKeys,
      literals: Dictionary(
        shape.columns.map { ($0.key, literals(of: $0.key, shape)) },
        uniquingKeysWith: { first, _ in first }),
      parents: (references[name] ?? []).map { (reference) throws(DatabaseError) in
        reference.parent == name ? nil : try keys(for: reference)
      })
    for column in shape.columns where text.comparesFlag(column) {
      accepted[[name, column.key]] = [0, 1]
    }
    for (number, kind) in kinds.enumerated() {
      guard var row = try start(kind, source) else { continue }
      for (index, column) in shape.columns.enumerated() {
        guard let own = row[column.key], let known = accepted[[name, column.key]], !known.isEmpty,
          isMark(own)
            || (kind.isLikely || text.comparesFlag(column)) && own != .null && !known.contains(own)
        else { continue }
        // Two columns with the same list of values must differ in some rows. Each column starts at
        // another value, and at yet another one whenever the list repeats.
        let round = number / known.count + 1
        let start = ((index + 1) * 2_654_435_761 * round) >> 11
        row[column.key] = known[(number + start) % known.count]
      }
      try insert(row, kind, shape, candidates)
    }
  }

  /// The source of the rows of one table.
  private struct Origin {
    let shape: DeviceTable
    let candidates: Candidates
    /// Columns in which rows differ.
    let distinct: Set<Identifier>
    /// The values with which the step compares each column.
    let literals: [Identifier: [Value]]
    /// The keys of the parents, for each reference. Nil for a reference to the table itself.
    let parents: [[[Value]]?]
  }

  /// The row to try first. Nil if the table has no column that gives this kind its meaning, or no
  /// row to copy.
  private mutating func start(
    _ kind: RowKind, _ source: Origin
  ) throws(DatabaseError) -> Insertion? {
    let (shape, candidates, distinct) = (source.shape, source.candidates, source.distinct)
    var row = Insertion(shape.name)
    var isOfKind = kind.isUseful(withParents: !source.parents.isEmpty)
    let changed: Set<Identifier> =
      if case .crossed(let isFirst, _) = kind { shape.columnsOfKeys(isFirst: isFirst) } else { [] }
    let isCopy =
      kind == .twin || kind == .padded && shape.hasUniqueText(distinct) || !changed.isEmpty
      || kind == .grouped
    let original: RowKind? = isLikely ? .likely(1) : kind.hasSimilarTextKey ? .childless : nil
    let twin = try isCopy || kind.hasSimilarTextKey ? self.row(original, of: shape) : nil
    if isCopy || kind.hasSimilarTextKey || kind == .padded, twin == nil { return nil }
    let other =
      try changed.isEmpty ? nil : self.row(isLikely ? .likely(4) : .marked(1), of: shape)
    let form = if case .marked(let form) = kind { form } else { 0 }
    let textKey = shape.primaryKey.last {
      $0.affinity == .text && !references.contain($0.key, of: shape.key)
    }
    let compared = shape.columns.map(\.key).filter { text.compared[$0] != nil }
    for (place, column) in shape.columns.enumerated() {
      let mark = marks.mark(for: column, form: form)
      row[column.key] = mark
      switch kind {
      case .dates where (column.affinity == .text || column.holdsTimes) && !column.isInKey:
        row[column.key] = MarkMaker.time(of: mark) ?? mark
      case .likely(let number):
        if number == 0, !column.isNotNull, !column.isInKey {
          row[column.key] = .null
        } else if distinct.contains(column.key), column.affinity == .integer {
          // Two tables of an app usually have some equal keys, but different positions. Positions follow each
          // other.
          let isKey = shape.primaryKey.map(\.key) == [column.key]
          row[column.key] = .integer(Int64(number + 101 + (isKey ? 0 : 1000 * filled.count)))
        } else if !distinct.contains(column.key) {
          row[column.key] = candidates.likely(number, for: column)
        }
      case .nulls where !column.isNotNull && !column.isInKey:
        row[column.key] = .null
        isOfKind = true
      case .sparse where !column.isNotNull && !column.isInKey:
        if kind.isNull(at: place) { row[column.key] = .null }
        isOfKind = shape.acceptsNulls
      case .twin where !distinct.contains(column.key), .padded where !distinct.contains(column.key):
        row[column.key] = twin?[column.key] ?? mark
        isOfKind = true
      // The texts differ only in case. If the column becomes unique regardless of case, SQLite
      // refuses one of the rows.
      case .twin where !column.isInKey && column.affinity == .text:
        row[column.key] = twin?[column.key]?.text.map { .text($0.uppercased()) } ?? mark
        isOfKind = true
      case .grouped:
        let isSame = text.groups.contains(column.key)
        if isSame || references.contain(column.key, of: shape.key) {
          row[column.key] = twin?[column.key] ?? mark
        }
        isOfKind = isOfKind || isSame
      case .crossed(let isFirst, let literal) where !changed.isEmpty:
        let values = source.literals[column.key] ?? []
        let isChanged = changed.contains(column.key)
        isOfKind = isOfKind || literal.map { isChanged && values.indices.contains($0) } ?? true
        if !isChanged {
          row[column.key] = twin?[column.key] ?? mark
        } else if let literal, values.indices.contains(literal) {
          row[column.key] = values[literal]
        } else if references.contain(column.key, of: shape.key) {
          row[column.key] = other?[column.key] ?? mark
        } else if isLikely, !isFirst, !shape.isKey(column.key),
          let number = twin?[column.key]?.integer
        {
          // The next position in the same list.
          row[column.key] = .integer(number + 1)
        }
      case .padded where !column.isInKey && column.affinity == .text:
        row[column.key] = twin?[column.key]?.text.map { .text($0 + " ") } ?? mark
        isOfKind = true
      // The key differs from that of another row only in this column.
      case _ where kind.hasSimilarTextKey && column.isInKey:
        let old = twin?[column.key] ?? mark
        row[column.key] = old
        guard column.key == textKey?.key, let text = old.text else { continue }
        row[column.key] = kind.key(similarTo: text).map(Value.text)
        isOfKind = row[column.key] != old
      case .otherTypes where !column.isInKey:
        row[column.key] = MarkMaker.otherType(of: mark)
      case .members where !column.isInKey:
        row[column.key] = text.form(of: mark, for: column.key)
      case .bits(let bit) where !column.isInKey && column.takesNumbers:
        row[column.key] = .integer(Int64((place % 6 + 1) >> bit & 1))
        isOfKind = true
      case .combined(let number):
        guard !compared.isEmpty, !column.isInKey else { continue }
        let value = text.value(of: column, at: place, in: number, compared)
        row[column.key] = value ?? text.form(of: mark, for: column.key)
        isOfKind = true
      case .literals(let index):
        let values = source.literals[column.key] ?? []
        if values.indices.contains(index) {
          row[column.key] = values[index]
          isOfKind = true
        }
      default: break
      }
    }
    guard isOfKind else { return nil }
    if !isCopy { try refer(&row, kind, source) }
    let isAlike = kind.hasSimilarTextKey || !changed.isEmpty
    let isOrphan = references[shape.key]?.lack(keys: source.parents, of: row) ?? false
    return isAlike && !isLikely && isOrphan ? nil : row
  }

  private func literals(of column: Identifier, _ shape: DeviceTable) -> [Value] {
    let children = references.values.joined().filter { $0.parent == shape.key }.flatMap {
      reference in
      zip(reference.columns, reference.parentColumns).filter { $0.1 == column }.map(\.0)
    }
    let takesNumbers = shape.column(column)?.takesNumbers ?? false
    return text.literals(of: [column] + children).filter { $0.text == nil || !takesNumbers }
  }

  /// The values of the first row of a kind.
  ///
  /// - Parameter kind: nil for any kind.
  private func row(
    _ kind: RowKind?, of shape: DeviceTable
  ) throws(DatabaseError) -> [Identifier: Value]? {
    let rows = filled[shape.key]?.rows ?? []
    guard let address = rows.first(where: { kind == nil || $0.kind == kind })?.address
    else { return nil }
    return try shape.row(on: connection, where: address)
  }

  /// Sets the columns that refer to other rows to keys of existing rows.
  private func refer(
    _ row: inout Insertion, _ kind: RowKind, _ source: Origin
  ) throws(DatabaseError) {
    let shape = source.shape
    for (place, reference) in (references[shape.key] ?? []).enumerated() {
      let isOwn =
        reference.isOptional && kind == .childless
        || kind.hasSimilarTextKey
          && reference.columns.contains(where: shape.primaryKey.map(\.key).contains)
      let isNull = reference.columns.contains { row[$0] == .null }
      if isOwn || kind.hasNulls && isNull { continue }
      let parents = if let known = source.parents[place] { known } else { try keys(for: reference) }
      guard !parents.isEmpty else {
        for column in reference.columns {
          guard let column = shape.column(column), !column.isNotNull, !column.isInKey else {
            continue
          }
          row[column.key] = .null
        }
        continue
      }
      let number = filled[shape.key]?.rows.count ?? 0
      let index = number + place * (number / parents.count + 1)
      for (column, value) in zip(reference.columns, parents[index % parents.count]) {
        if let column = shape.column(column) { row[column.key] = value }
      }
    }
  }

  /// The keys of the rows to which other rows may refer: all but the fourth marked row of a table.
  private func keys(for reference: DeviceTable.Reference) throws(DatabaseError) -> [[Value]] {
    let names = quotedList(reference.parentColumns.map(\.text))
    var keys: [[Value]] = []
    let isSeeded = seeded.contains(reference.parent)
    let parents = (filled[reference.parent]?.rows ?? []).filter {
      !isSeeded || $0.kind == .seeded
    }
    // The first row may refer to no parent, so that the next rows refer to those that the step names.
    let named = isLikely ? parents.dropFirst().filter(\.kind.isNamed) : []
    let others = parents.dropFirst().filter { named.isEmpty || !$0.kind.isNamed }
    for parent in parents.prefix(1) + named + others where parent.kind != .childless {
      let values = try connection.rows(
        "SELECT \(names) FROM main.\(Quoting.quoted(reference.parent)) WHERE \(parent.address)")
      if let values = values.first, !values.contains(.null) { keys.append(values) }
    }
    return keys
  }

  private mutating func insert(
    _ start: Insertion, _ kind: RowKind, _ shape: DeviceTable, _ candidates: Candidates
  ) throws(DatabaseError) {
    let columns = shape.columns.filter { !references.contain($0.key, of: shape.key) }
    let isFirst = filled[shape.key]?.rows.isEmpty ?? true
    let result = try foundRow(near: start, changing: columns, limit: isFirst ? 300 : 60) {
      (column) throws(DatabaseError) in
      let forms = start[column.key].map(MarkMaker.forms) ?? []
      return candidates.beginnings(of: start[column.key], for: column)
        + forms.filter { column.isInKey || column.affinity == .text || $0.text == nil }
        + candidates.values(for: column) + (column.isNotNull ? [] : [.null])
    } refusal: { (row) throws(DatabaseError) in
      try connection.refusal(of: row.sql)
    }
    guard case .row(let row) = result else {
      guard connection.isOn(.triggers), isFirst, !isLikely else { return }
      // A trigger may refuse every row that the app has not prepared. That is not evidence of data
      // loss, so that the row is inserted without triggers.
      connection.set(.triggers, to: false)
      defer { connection.set(.triggers, to: true) }
      return try insert(start, kind, shape, candidates)
    }
    guard let address = try address(of: shape) else { return }
    filled[shape.key]?.rows.append(FilledDatabase.Row(kind: kind, address: address))
    for column in columns where accepted[[shape.key, column.key]] == nil {
      guard let old = start[column.key], let new = row[column.key], new != old, new != .null,
        !isMark(new), isMark(old) || kind.isLikely
      else { continue }
      var values: [Value] = []
      // Few texts besides those of the CHECK, so that the rows of a small table contain different kinds.
      let most = column.affinity == .text ? candidates.hinted(column).count + 6 : .max
      for value in candidates.distinct(for: column) where values.count < most {
        if try accepts(value, for: column, of: shape, at: address) { values.append(value) }
      }
      accepted[[shape.key, column.key]] = values
    }
  }

  private func isMark(_ value: Value) -> Bool { !MarkMaker.numbers(in: value).isEmpty }

  /// Whether a row accepts the value and stores it without a conversion.
  private func accepts(
    _ value: Value, for column: DeviceTable.Column, of shape: DeviceTable, at address: String
  ) throws(DatabaseError) -> Bool {
    let (table, name) = (Quoting.quoted(shape.name), Quoting.quoted(column.name))
    let areFiring = connection.isOn(.triggers)
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: areFiring) }
    return try connection.rollingBack { () throws(DatabaseError) in
      let refusal = try connection.refusal(
        of: "UPDATE main.\(table) SET \(name) = \(value.sql) WHERE \(address)")
      let stored = try connection.value("SELECT \(name) FROM main.\(table) WHERE \(address)")
      return refusal == nil && stored == value
    }
  }

  /// The condition for the last inserted row.
  private func address(of shape: DeviceTable) throws(DatabaseError) -> String? {
    guard let filled = filled[shape.key], !filled.key.isEmpty else { return nil }
    if filled.key == shape.rowidName.map({ [$0] }) {
      return filled.address([.integer(connection.lastInsertRowid)])
    }
    let known = Set(filled.rows.map(\.address.exact))
    let rows = try connection.rows(
      "SELECT \(filled.key.joined(separator: ", ")) FROM main.\(Quoting.quoted(shape.name))")
    return rows.map(filled.address).first { !known.contains($0) }
  }

  private func key(of shape: DeviceTable) throws(DatabaseError) -> [String] {
    if let rowid = shape.rowidName,
      try connection.refusal(
        of: "SELECT \(rowid) FROM main.\(Quoting.quoted(shape.name)) WHERE 0") == nil
    {
      return [rowid]
    }
    return shape.primaryKey.map { Quoting.quoted($0.name) }
  }
}
