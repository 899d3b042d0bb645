import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The combined reports of all shards of one list.
package struct FleetMerge: Sendable {
  /// The header of the whole list.
  package private(set) var header: FleetHeader
  package private(set) var summary: FleetSummary
  package let reports: Int
  /// The worst of the exit codes of the reports.
  package private(set) var status = ExitStatus.success

  /// Reads and combines reports.
  ///
  /// - Throws: if a report is missing or incomplete, if two reports contain the same database, or if a report
  ///   belongs to another list or history.
  package init(_ paths: [String]) throws(Failure) {
    reports = paths.count
    do {
      // The databases that have a result.
      let names = try DatabaseList()
      let reading = try ReportReading()
      var headers: [(path: String, header: FleetHeader)] = []
      var sum = FleetSummary(expected: 0)
      var statuses: [ExitStatus] = []
      for path in paths {
        statuses.append(
          try Self.read(path, reading, into: names, &sum) { header in
            try header.requireSameList(as: headers.first?.header, path)
            if let twin = headers.first(where: { $0.header.shard == header.shard }) {
              throw Failure(
                .invalidInput,
                "`\(twin.path)` and `\(path)` are both reports of shard \(header.shard)")
            }
            headers.append((path, header))
          })
      }
      guard let first = headers.first?.header else {
        throw Failure(.usage, "the names of the reports are missing")
      }
      try first.requireAllShards(headers.map(\.header.shard))
      try names.close()
      guard names.digest == first.digest else {
        throw Failure(
          .invalidInput,
          "the reports do not name the databases of their list")
      }
      header = FleetHeader(
        command: first.command, history: first.history, digest: first.digest, listed: first.listed,
        shard: .all, count: first.listed)
      sum.expected = first.listed
      summary = sum
      status = ExitStatus.worst(statuses + [sum.status])
    } catch {
      throw Failure(ofList: error)
    }
  }

  /// Reads a report.
  ///
  /// - Parameter check: checks the header before the other lines are read.
  /// - Returns: the exit code of the run.
  private static func read(
    _ path: String, _ reading: ReportReading, into names: DatabaseList, _ sum: inout FleetSummary,
    checking check: (FleetHeader) throws -> Void
  ) throws -> ExitStatus {
    var reader = try RecordReader(path, limit: 16_777_216)
    var header: FleetHeader?
    var status: ExitStatus?
    var number = 0
    while let (bytes, isEnded) = try reader.next(endingWith: UInt8(ascii: "\n")) {
      number += 1
      // A killed run may have written only a part of its last line.
      guard isEnded else { break }
      guard status == nil,
        let line = try? reading.line(String(decoding: bytes, as: UTF8.self))
      else { throw Failure(notAReport: path, line: number) }
      switch line {
      case .header(let found) where number == 1:
        try check(found)
        header = found
      case .result(let result):
        guard let header else { throw Failure(notAReport: path, line: number) }
        guard try names.insert(result.database) else {
          throw Failure(.invalidInput, "\(path): `\(result.database)` has more than one result")
        }
        guard header.shard.contains(result.database) else {
          throw Failure(
            .invalidInput, "\(path): `\(result.database)` does not belong to shard \(header.shard)")
        }
        sum.add(result)
      case .summary(let found): status = found
      case .header: throw Failure(notAReport: path, line: number)
      }
    }
    guard let header else { throw Failure(notAReport: path, line: number + 1) }
    guard let status else {
      throw Failure(
        .invalidInput,
        "`\(path)` is incomplete: its run did not end. Run shard \(header.shard) again: databases that are "
          + "up to date stay as they are")
    }
    return status
  }
}

extension FleetHeader {
  fileprivate func requireSameList(as first: FleetHeader?, _ path: String) throws(Failure) {
    guard let first else { return }
    let difference: String? =
      if digest != first.digest || listed != first.listed {
        "another list of databases (\(listed) with digest \(digest), not \(first.listed) with "
          + "\(first.digest))"
      } else if command != first.command {
        "`fleet \(command)`, not `fleet \(first.command)`"
      } else if history != first.history {
        "another history"
      } else if shard.count != first.shard.count {
        "a list in \(shard.count) shards, not \(first.shard.count)"
      } else {
        nil
      }
    if let difference {
      throw Failure(.invalidInput, "`\(path)` is the report of \(difference)")
    }
  }

  fileprivate func requireAllShards(_ shards: [Shard]) throws(Failure) {
    let found = Set(shards.map(\.index))
    let missing = (1...shard.count).filter { !found.contains($0) }
    guard !missing.isEmpty else { return }
    let names = missing.map { "\($0)/\(shard.count)" }.abridged(to: 20).joined(separator: ", ")
    throw Failure(
      .notFound,
      "\(missing.count == 1 ? "the report of shard" : "the reports of shards") \(names)"
        + (missing.count == 1 ? " is missing" : " are missing"))
  }
}

extension Failure {
  fileprivate init(notAReport path: String, line: Int) {
    self.init(
      .invalidInput,
      "line \(line) of `\(path)` is not a line that `schemactl fleet … --format jsonl` writes")
  }
}
