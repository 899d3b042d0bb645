import SchemaHistory
import SchemaManifest
import SchemaSQLText

extension Migration {
  /// The same migration with LIMITs below the number of rows in an experiment. The texts keep their
  /// lengths, so that statements keep their positions.
  var withSmallLimits: Migration {
    let operations = manifest.operations.map { operation -> Operation in
      guard case .sql(let sources) = operation.kind else { return operation }
      return operation.with(sql: sources.map { $0.withText($0.text.withSmallLimits) })
    }
    return Migration(
      id: id, file: file, bytes: [], manifest: manifest.with(operations: operations))
  }
}

extension String {
  fileprivate var withSmallLimits: String {
    let sql = TokenizedSQL(self)
    let tokens = sql.significant
    var bytes = sql.bytes
    for index in tokens.indices where sql.isWord(tokens[index], "LIMIT") {
      // `LIMIT 5, 100` skips five rows and returns a hundred.
      let hasOffset = tokens.indices.contains(index + 3) && sql.text(tokens[index + 2]) == ","
      let place = index + (hasOffset ? 3 : 1)
      guard tokens.indices.contains(place), tokens[place].kind == .integer,
        let limit = Int(sql.text(tokens[place])), limit > small, limit < unlimited
      else { continue }
      let range = tokens[place].range
      for byte in range { bytes[byte] = UInt8(ascii: "0") }
      bytes[range.upperBound - 1] += UInt8(small)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Less than the number of rows in any table of an experiment.
private let small = 3
/// A LIMIT of this number or more means no limit. SQL requires a LIMIT before an OFFSET.
private let unlimited = 1_000_000_000
