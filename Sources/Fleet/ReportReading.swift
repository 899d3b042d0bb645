import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// Reads the lines that `fleet` writes with `--format jsonl`. SQLite decodes the JSON.
struct ReportReading {
  private let decoding: Statement

  enum Line {
    case header(FleetHeader)
    case result(FleetResult)
    case summary(ExitStatus)
  }

  init() throws(DatabaseError) {
    let keys = [
      "type", "command", "history", "digest", "listed", "shard.index", "shard.count", "databases",
      "database", "state", "code", "failed.message", "failed.id", "failed.operation",
      "failed.statement", "attempts", "milliseconds", "drifted",
    ]
    decoding = try Connection(path: nil).prepare(
      "SELECT " + keys.map { "json_extract(?1, '$.\($0)')" }.joined(separator: ", "))
  }

  /// Parses a line.
  ///
  /// - Returns: nil for a line that `fleet` does not write.
  func line(_ text: String) throws(DatabaseError) -> Line? {
    try decoding.bind([.text(text)])
    defer { decoding.reset() }
    guard try decoding.step() else { return nil }
    let fields = try decoding.row
    switch fields[0].text {
    case "run": return header(fields).map(Line.header)
    case "database": return result(fields).map(Line.result)
    case "summary": return status(fields).map(Line.summary)
    default: return nil
    }
  }

  private func header(_ fields: [Value]) -> FleetHeader? {
    guard let command = fields[1].text, let history = fields[2].text, let digest = fields[3].text,
      let listed = fields[4].integer, let count = fields[7].integer,
      let shard = Shard("\(fields[5].integer ?? 1)/\(fields[6].integer ?? 1)")
    else { return nil }
    return FleetHeader(
      command: command, history: history, digest: digest, listed: Int(listed), shard: shard,
      count: Int(count))
  }

  private func status(_ fields: [Value]) -> ExitStatus? {
    fields[10].integer.flatMap { ExitStatus(rawValue: Int32(clamping: $0)) }
  }

  private func result(_ fields: [Value]) -> FleetResult? {
    guard let database = fields[8].text,
      let state = fields[9].text.flatMap(FleetResult.State.init), let status = status(fields)
    else { return nil }
    var result = FleetResult(database, state)
    result.attempts = Int(fields[15].integer ?? 1)
    result.milliseconds = fields[16].integer ?? 0
    result.isReportedAsDrifted = fields[17].integer == 1
    guard status != .success else { return result }
    let lines = (fields[11].text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    result.failure = Failure(
      status, String(lines.first ?? ""), details: lines.dropFirst().map(String.init),
      migration: fields[12].text.map {
        Failure.FailedMigration(
          id: $0, operation: fields[13].text, statement: fields[14].text)
      })
    return result
  }
}
