import ManifestFormat
import Planning
import SQLite
import SchemaModel

/// What the replay of a history did, from its beginning to one of its migrations, so that it can be
/// told again without running anything.
struct ReplayRecord: Sendable {
  let steps: [RecordedStep]
  let end: Shadow.Snapshot
}

/// What one migration did. The migration itself is not in the record, but its digests are in the
/// record's name.
struct RecordedStep: Sendable {
  let change: SchemaSplice
  let touch: Touch
  let strategies: [Strategy]
  let missingCalls: [Runner.Record.Call]
  let temporary: [TemporaryObject]
  /// Of the schema after it; empty for lint, which asks for none.
  let fingerprint: String
  /// Whether it left no row that breaks a foreign key; lint does not ask.
  let keepsForeignKeys: Bool
  /// In their order; what each of them changes is there for lint only.
  let statements: [ReplayedStatement]
  /// What is changed and was done by none of them: with them it makes `change`.
  let rest: SchemaSplice
}

extension ReplayRecord: Recordable {
  func write(to record: inout RecordWriter) {
    steps.write(to: &record)
    end.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    steps = try [RecordedStep](from: &record)
    end = try Shadow.Snapshot(from: &record)
    guard isApplicable else { throw DamagedRecord() }
  }

  /// Whether each change can be made to what those before it leave.
  private var isApplicable: Bool {
    var count = 0
    for change in steps.flatMap({ $0.statements.map(\.change) + [$0.rest] }) {
      guard change.start >= 0, change.start <= count - change.removed.count else { return false }
      count += change.inserted.count - change.removed.count
    }
    return true
  }
}

extension RecordedStep: Recordable {
  func write(to record: inout RecordWriter) {
    change.write(to: &record)
    touch.write(to: &record)
    strategies.write(to: &record)
    missingCalls.write(to: &record)
    temporary.write(to: &record)
    fingerprint.write(to: &record)
    keepsForeignKeys.write(to: &record)
    statements.write(to: &record)
    rest.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    change = try SchemaSplice(from: &record)
    touch = try Touch(from: &record)
    strategies = try [Strategy](from: &record)
    missingCalls = try [Runner.Record.Call](from: &record)
    temporary = try [TemporaryObject](from: &record)
    fingerprint = try record.text()
    keepsForeignKeys = try Bool(from: &record)
    statements = try [ReplayedStatement](from: &record)
    rest = try SchemaSplice(from: &record)
  }
}

extension ReplayedStatement: Recordable {
  package func write(to record: inout RecordWriter) {
    operation.write(to: &record)
    sql.write(to: &record)
    position.write(to: &record)
    events.write(to: &record)
    suspicion.write(to: &record)
    enforcesForeignKeys.write(to: &record)
    change.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    operation = try Int(from: &record)
    sql = try record.text()
    position = try Position(from: &record)
    events = try [AuthorizerEvent](from: &record)
    suspicion = try Suspicion(from: &record)
    enforcesForeignKeys = try Bool(from: &record)
    change = try SchemaSplice(from: &record)
  }
}

extension SchemaObject: Recordable {}

extension Recordable where Self == SchemaObject {
  package func write(to record: inout RecordWriter) { record.write(self) }

  package init(from record: inout RecordReader) throws(DamagedRecord) { self = try record.object() }
}

extension SchemaSplice: Recordable {
  package func write(to record: inout RecordWriter) {
    start.write(to: &record)
    removed.write(to: &record)
    inserted.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(
      at: try Int(from: &record), removed: try [SchemaObject](from: &record),
      inserted: try [SchemaObject](from: &record))
  }
}

extension AuthorizerEvent: Recordable {
  package func write(to record: inout RecordWriter) {
    Int(action.rawValue).write(to: &record)
    for name in [first, second, database, trigger] { name.write(to: &record) }
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(
      action: AuthorizerAction(rawValue: Int32(truncatingIfNeeded: try Int(from: &record))),
      first: try String?(from: &record), second: try String?(from: &record),
      database: try String?(from: &record), trigger: try String?(from: &record))
  }
}

extension Touch: Recordable {
  package func write(to record: inout RecordWriter) {
    written.write(to: &record)
    rewritten.write(to: &record)
    dropsIndexes.write(to: &record)
    namesTemporary.write(to: &record)
    namesSettings.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(
      written: try Set(from: &record), rewritten: try Set(from: &record),
      dropsIndexes: try Bool(from: &record), namesTemporary: try Bool(from: &record),
      namesSettings: try Bool(from: &record))
  }
}

extension Strategy: Recordable {
  package func write(to record: inout RecordWriter) { record.write(rawValue) }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    guard let strategy = Strategy(rawValue: try record.text()) else { throw DamagedRecord() }
    self = strategy
  }
}

extension Runner.Record.Call: Recordable {
  func write(to record: inout RecordWriter) {
    function.write(to: &record)
    position.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(function: try record.text(), position: try Position(from: &record))
  }
}

extension TemporaryObject: Recordable {
  package func write(to record: inout RecordWriter) {
    kind.write(to: &record)
    name.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(kind: try record.text(), name: try record.text())
  }
}

extension Position: Recordable {
  package func write(to record: inout RecordWriter) {
    line.write(to: &record)
    column.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(line: try Int(from: &record), column: try Int(from: &record))
  }
}

extension Suspicion: Recordable {
  package func write(to record: inout RecordWriter) {
    missing.write(to: &record)
    doubleQuotedString.write(to: &record)
    isVacuum.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(
      missing: try [MissingName](from: &record),
      doubleQuotedString: try QuotedString?(from: &record), isVacuum: try Bool(from: &record))
  }
}

extension Suspicion.QuotedString: Recordable {
  package func write(to record: inout RecordWriter) {
    text.write(to: &record)
    position.write(to: &record)
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self.init(text: try record.text(), position: try Position(from: &record))
  }
}

extension MissingName: Recordable {
  package func write(to record: inout RecordWriter) {
    switch self {
    case .function(let name):
      false.write(to: &record)
      name.write(to: &record)
    case .collation(let name):
      true.write(to: &record)
      name.write(to: &record)
    }
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    self = try Bool(from: &record) ? .collation(try record.text()) : .function(try record.text())
  }
}

extension Shadow.Snapshot: Recordable {
  /// Most of a database without rows is zeros: a table's page is of 4096 bytes and holds none.
  private static let shortestGap = 32

  package func write(to record: inout RecordWriter) {
    missing.write(to: &record)
    database.count.write(to: &record)
    var rest = database[...]
    while !rest.isEmpty {
      let zeros = rest.prefix { $0 == 0 }
      zeros.count.write(to: &record)
      rest = rest.dropFirst(zeros.count)
      let content = rest.prefix(Self.contentLength(rest))
      record.write(bytes: content)
      rest = rest.dropFirst(content.count)
    }
  }

  /// How many bytes come before the next gap.
  private static func contentLength(_ bytes: ArraySlice<UInt8>) -> Int {
    var zeros = 0
    for (index, byte) in bytes.enumerated() {
      zeros = byte == 0 ? zeros + 1 : 0
      if zeros == shortestGap { return index + 1 - zeros }
    }
    return bytes.count - zeros
  }

  package init(from record: inout RecordReader) throws(DamagedRecord) {
    missing = try [MissingName](from: &record)
    let size = try Int(from: &record)
    guard (0...Self.largestDatabase).contains(size) else { throw DamagedRecord() }
    var database: [UInt8] = []
    database.reserveCapacity(size)
    while database.count < size {
      let zeros = try Int(from: &record)
      guard (0...size - database.count).contains(zeros) else { throw DamagedRecord() }
      database.append(contentsOf: repeatElement(0, count: zeros))
      let content = try record.rawBytes()
      guard zeros + content.count > 0, content.count <= size - database.count else {
        throw DamagedRecord()
      }
      database += content
    }
    self.database = database
  }

  /// In bytes. A larger one is not recorded: to read it would save too little.
  static let largestDatabase = 512 * 1_048_576
}
