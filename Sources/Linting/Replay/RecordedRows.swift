import ManifestFormat
import Migrating

/// What is known of rows at the end of what is frozen, so that the next run of lint need not try
/// there again.
struct RecordedRows {
  let evidence: RowEvidence
  let restarts: Int
  let ground: Ground?

  /// A database that holds rows.
  struct Ground {
    /// How many migrations it has.
    let count: Int
    let snapshot: Shadow.Snapshot
    let seeder: Seeder.Memory
    let chances: Int64
  }

  /// Whether it can be of so many migrations.
  func fits(_ count: Int) -> Bool {
    (0...count).contains(ground?.count ?? 0)
      && evidence.failures.allSatisfy { (0..<count).contains($0.place.migration) }
  }
}

extension RecordedRows: Recordable {
  func write(to record: inout RecordWriter) {
    evidence.write(to: &record)
    restarts.write(to: &record)
    ground.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    evidence = try RowEvidence(from: &record)
    restarts = try Int(from: &record)
    ground = try Ground?(from: &record)
  }
}

extension RecordedRows.Ground: Recordable {
  func write(to record: inout RecordWriter) {
    count.write(to: &record)
    snapshot.write(to: &record)
    seeder.write(to: &record)
    Int(chances).write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    count = try Int(from: &record)
    snapshot = try Shadow.Snapshot(from: &record)
    seeder = try Seeder.Memory(from: &record)
    chances = Int64(try Int(from: &record))
  }
}

extension Seeder.Memory: Recordable {
  func write(to record: inout RecordWriter) {
    Int(serial).write(to: &record)
    known.keys.sorted().write(to: &record)
    for (_, filling) in known.sorted(by: { $0.key < $1.key }) {
      filling.sql.write(to: &record)
      filling.columns.write(to: &record)
      filling.isImpossible.write(to: &record)
    }
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    serial = Int64(try Int(from: &record))
    for name in try [String](from: &record) {
      known[name] = Seeder.Filling(
        sql: try String?(from: &record), columns: try Set(from: &record),
        isImpossible: try Bool(from: &record))
    }
  }
}

extension RowEvidence: Recordable {
  func write(to record: inout RecordWriter) {
    failures.write(to: &record)
    losses.keys.sorted().write(to: &record)
    for (_, losses) in losses.sorted(by: { $0.key < $1.key }) { losses.write(to: &record) }
    let rebuilds = rebuilds.sorted {
      ($0.key.migration, $0.key.table) < ($1.key.migration, $1.key.table)
    }
    rebuilds.map(\.key).write(to: &record)
    rebuilds.map(\.value).write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    failures = try [RowFailure](from: &record)
    for number in try [Int](from: &record) { losses[number] = try [RowLoss](from: &record) }
    let tables = try [Rebuild](from: &record)
    rebuilds = Dictionary(
      zip(tables, try [RowLoss](from: &record)), uniquingKeysWith: { first, _ in first })
  }
}

extension RowEvidence.Rebuild: Recordable {
  func write(to record: inout RecordWriter) {
    migration.write(to: &record)
    table.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    migration = try Int(from: &record)
    table = try record.text()
  }
}

extension RowLoss: Recordable {
  func write(to record: inout RecordWriter) {
    table.write(to: &record)
    Int(before).write(to: &record)
    Int(after).write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    table = try record.text()
    before = Int64(try Int(from: &record))
    after = Int64(try Int(from: &record))
  }
}

extension RowFailure: Recordable {
  func write(to record: inout RecordWriter) {
    place.write(to: &record)
    position.write(to: &record)
    object.write(to: &record)
    message.write(to: &record)
    tables.write(to: &record)
    isOfMap.write(to: &record)
    database.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    place = try StatementPlace(from: &record)
    position = try Position?(from: &record)
    object = try String?(from: &record)
    message = try record.text()
    tables = try Set(from: &record)
    isOfMap = try Bool(from: &record)
    database = try String?(from: &record)
  }
}

extension StatementPlace: Recordable {
  func write(to record: inout RecordWriter) {
    for number in [migration, operation, number] { number.write(to: &record) }
    position.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    migration = try Int(from: &record)
    operation = try Int(from: &record)
    number = try Int(from: &record)
    position = try Position(from: &record)
  }
}
