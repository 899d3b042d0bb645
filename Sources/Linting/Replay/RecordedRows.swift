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
    chances.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    count = try Int(from: &record)
    snapshot = try Shadow.Snapshot(from: &record)
    seeder = try Seeder.Memory(from: &record)
    chances = try Int64(from: &record)
  }
}

extension Seeder.Memory: Recordable {
  func write(to record: inout RecordWriter) {
    known.write(to: &record)
    serial.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    known = try Dictionary(from: &record)
    serial = try Int64(from: &record)
  }
}

extension Seeder.Filling: Recordable {
  func write(to record: inout RecordWriter) {
    sql.write(to: &record)
    columns.write(to: &record)
    isImpossible.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    sql = try String?(from: &record)
    columns = try Set(from: &record)
    isImpossible = try Bool(from: &record)
  }
}

extension RowEvidence: Recordable {
  func write(to record: inout RecordWriter) {
    failures.write(to: &record)
    losses.write(to: &record)
    rebuilds.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    failures = try [RowFailure](from: &record)
    losses = try Dictionary(from: &record)
    rebuilds = try Dictionary(from: &record)
  }
}

extension RowEvidence.Rebuild: Recordable, Comparable {
  static func < (a: Self, b: Self) -> Bool { (a.migration, a.table) < (b.migration, b.table) }

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
    before.write(to: &record)
    after.write(to: &record)
  }

  init(from record: inout RecordReader) throws(DamagedRecord) {
    table = try record.text()
    before = try Int64(from: &record)
    after = try Int64(from: &record)
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
