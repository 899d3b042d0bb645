import History
import Planning
import SQLText
import SQLite

/// An UPDATE of a large table, a stretch of rowids at a time, and the checksums of what must stay in
/// its rows, which a second thread makes meanwhile.
///
/// A stretch changes in the page cache alone, and is flushed into the file once the second thread
/// has read there what stands before it and behind it: the stretch after the next one as it was, and
/// the one before the last as it has become. So the rows of each are read before its neighbours, with
/// which it shares pages, are touched, and again when they are done.
///
/// The second thread brings to the disk what is written meanwhile, too.
///
/// It takes a lock that keeps everybody else out, and a rollback journal.
package struct ProvenUpdate {
  package let update: RowUpdate
  package let proof: RowProof
  private let statement: String
  private let connection: Connection
  private let file: String
  private let interruption: Interruption
  private var table: StoredTable?
  private var sync: EarlySync?
  private var stretches: Stretches
  package private(set) var before: RowChecksums
  package private(set) var after: RowChecksums
  /// How often the second thread has read a stretch.
  package private(set) var readBeside = 0

  /// - Returns: nil where the rows have to be changed at once.
  package init?(
    _ update: RowUpdate, _ proof: RowProof, in file: String, on connection: Connection,
    _ interruption: Interruption = Interruption()
  ) throws(DatabaseError) {
    guard let statement = update.ofStretch, !connection.hasRunningStatement,
      let stretches = try Stretches(of: proof.before, on: connection)
    else { return nil }
    self.update = update
    self.proof = proof
    self.statement = statement
    self.connection = connection
    self.file = file
    self.interruption = interruption
    self.stretches = stretches
    before = RowChecksums(ofNoRowOf: proof.before)
    after = RowChecksums(ofNoRowOf: proof.after)
  }

  /// - Parameter change: runs a statement for the rowids between two.
  package mutating func run(
    _ change: (_ statement: String, ClosedRange<Int64>) throws -> Void
  ) throws {
    var ahead: [Stretch] = []
    var behind: [Stretch] = []
    if let other = try? Connection(path: file, mode: .immutable) {
      interruption.watch(other)
      table = try StoredTable(of: proof.before, in: other, beside: connection)
      sync = EarlySync(other, of: connection)
    }
    while ahead.count < 2, let stretch = stretches.next() {
      before = try before + checksums(of: proof.before, in: stretch)
      ahead.append(stretch)
    }
    while !ahead.isEmpty {
      let stretch = ahead.removeFirst()
      let next = stretches.next()
      let last = behind.count > 1 ? behind.removeFirst() : nil
      let reading = reading(before: next, after: last)
      let spilled = connection.spilledPages
      let result = Result { try change(statement, stretch.rowids) }
      let found = reading?.wait() ?? Found()
      // A disk that fails is more than what it may have led to.
      if let error = found.syncError { throw error }
      try result.get()
      let sums = connection.spilledPages == spilled ? found : Found()
      let written = connection.writtenPages
      try connection.flush()
      stretches.adapt(to: connection.writtenPages - written, of: stretch)
      behind.append(stretch)
      if let next {
        before = try before + (sums.before ?? checksums(of: proof.before, in: next))
        ahead.append(next)
      }
      if let last {
        after = try after + (sums.after ?? checksums(of: proof.after, in: last))
      }
      readBeside += [sums.before, sums.after].count { $0 != nil }
    }
    for stretch in behind { after = try after + checksums(of: proof.after, in: stretch) }
    // What one connection has seen wrongly the other one has not.
    if before.damage(seenIn: after, proof) != nil {
      after = try RowChecksums(of: proof.after, on: connection)
    }
  }

  // MARK: Beside

  /// What the second thread could read.
  private struct Found {
    var before: RowChecksums?
    var after: RowChecksums?
    var syncError: DatabaseError?
  }

  /// Nothing, where the file does not tell what the connection reads.
  private func reading(
    before next: Stretch?, after last: Stretch?
  ) -> Beside<Found>? {
    guard let table, let sync else { return nil }
    return Beside {
      var found = Found()
      do throws(DatabaseError) {
        try sync.syncFile()
        found.before = next.flatMap { RowChecksums(in: $0.rowids, of: table) }
        try sync.syncJournal()
        found.after = last.flatMap { RowChecksums(in: $0.rowids, of: table) }
        try sync.syncJournal()
      } catch {
        found.syncError = error
      }
      return found
    }
  }

  /// Of rows that have been flushed.
  private func checksums(
    of rows: TableRows, in stretch: Stretch
  ) throws(DatabaseError) -> RowChecksums {
    if let checksums = table.flatMap({ RowChecksums(in: stretch.rowids, of: $0) }) {
      return checksums
    }
    return try RowChecksums(of: rows, in: stretch.rowids, on: connection)
  }
}

/// Some of a table's rowids that follow one another, whether or not there are such rows.
private struct Stretch {
  let rowids: ClosedRange<Int64>
  let width: Int64
}

/// The rowids of a table from the lowest on, cut so that the pages of a stretch that change have room
/// in the page cache.
private struct Stretches {
  /// Where the next one starts; nil when there is none.
  private var start: Int64?
  private let end: Int64
  private var isFirst = true
  private var width: Int64
  /// How many pages are to change in each.
  private let pages: Int64

  /// - Returns: nil for a table that has no rows, or none with rowids.
  init?(of rows: TableRows, on connection: Connection) throws(DatabaseError) {
    guard let rowid = rows.rowid else { return nil }
    let table = "main.\(Quoting.quoted(rows.table))"
    let ends = try connection.rows(
      "SELECT (SELECT min(\(rowid)) FROM \(table)), (SELECT max(\(rowid)) FROM \(table))"
    ).first
    guard let low = ends?[0].integer, let high = ends?[1].integer else { return nil }
    start = low
    end = high
    width = Int64(UInt64(bitPattern: high &- low) / 256 + 1)
    pages = 4_000_000 / (try connection.value("PRAGMA main.page_size")?.integer ?? 4096)
  }

  /// The first begins and the last ends so that no rowid is left out.
  mutating func next() -> Stretch? {
    guard let start else { return nil }
    let (last, isBeyond) = start.addingReportingOverflow(width - 1)
    let isLast = isBeyond || last >= end
    self.start = isLast ? nil : last + 1
    defer { isFirst = false }
    return Stretch(rowids: (isFirst ? .min : start)...(isLast ? .max : last), width: width)
  }

  /// - Parameter changed: how many pages have changed in a stretch.
  mutating func adapt(to changed: Int, of stretch: Stretch) {
    let factor = Double(pages) / Double(max(changed, 1))
    width = Int64(min(max(Double(stretch.width) * min(factor, 4), 1), 1e18))
  }
}
