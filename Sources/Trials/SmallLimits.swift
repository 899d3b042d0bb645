import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Migration {
  /// The same migration with LIMITs below the number of rows in an experiment. The texts keep their
  /// lengths, so that statements keep their positions. A migration that skips rows with an OFFSET or by their
  /// rank remains unchanged: it may copy a table in parts, and each LIMIT ends where the next part starts.
  var withSmallLimits: Migration {
    let operations = manifest.operations
    let texts = operations.flatMap { operation -> [String] in
      if case .sql(let sources) = operation.kind { sources.map(\.text) } else { [] }
    }
    guard !texts.contains(where: { TokenizedSQL($0).skipsRows }) else { return self }
    let limited = operations.map { operation -> Operation in
      guard case .sql(let sources) = operation.kind else { return operation }
      return operation.with(sql: sources.map { $0.withText($0.text.withSmallLimits) })
    }
    return Migration(id: id, file: file, bytes: [], manifest: manifest.with(operations: limited))
  }
}

extension TokenizedSQL {
  /// Whether a LIMIT has an offset other than 0, as in `LIMIT 5 OFFSET 10` or `LIMIT 10, 5`, or a rank or a
  /// number of rows must be greater than a number.
  fileprivate var skipsRows: Bool {
    let (tokens, ranks) = (significant, ranks)
    return zip(tokens.indices, tokens.dropFirst()).contains { index, number in
      if [">", ">="].contains(text(tokens[index])), isRank(index - 1, in: tokens, ranks) {
        return true
      }
      guard number.kind == .integer, text(number) != "0" else { return false }
      return isWord(tokens[index], "OFFSET")
        || isWord(tokens[index], "LIMIT") && isOffset(index + 1, in: tokens)
    }
  }

  /// Whether the number after a LIMIT is an offset: `LIMIT 5, 100` skips five rows and returns a
  /// hundred.
  fileprivate func isOffset(_ index: Int, in tokens: [Token]) -> Bool {
    tokens.indices.contains(index + 2) && text(tokens[index + 1]) == ","
  }

  /// The index of the number after LIMIT, or after `<` or `<=` that compares a rank or a number of rows.
  ///
  /// - Parameter ranks: the names of the ranks.
  fileprivate func placeOfLimit(
    _ index: Int, in tokens: [Token], _ ranks: Set<Identifier>
  ) -> Int? {
    if isWord(tokens[index], "LIMIT") { return index + (isOffset(index + 1, in: tokens) ? 3 : 1) }
    guard ["<", "<="].contains(text(tokens[index])), isRank(index - 1, in: tokens, ranks) else {
      return nil
    }
    return index + 1
  }

  /// Whether a rank or a call of `count` ends at this index.
  private func isRank(_ index: Int, in tokens: [Token], _ ranks: Set<Identifier>) -> Bool {
    guard tokens.indices.contains(index) else { return false }
    let open = opening(tokens[...index])
    let isCount = open.map { $0 > 0 && isWord(tokens[$0 - 1], "COUNT") } ?? false
    return isCount || ranks.contains(name(tokens[index]))
  }

  /// The names of columns that number rows: `row_number() OVER (…) AS name`.
  fileprivate var ranks: Set<Identifier> {
    let tokens = significant
    let functions: Set<Identifier> = ["row_number", "rank", "dense_rank"]
    return Set(
      tokens.indices.compactMap { index in
        // The window is a name or in parentheses.
        var next = index + 4
        guard functions.contains(name(tokens[index])), tokens.indices.contains(next),
          isWord(tokens[index + 3], "OVER")
        else { return nil }
        next = closing(tokens[next...]) + 1
        if tokens.indices.contains(next), isWord(tokens[next], "AS") { next += 1 }
        return tokens.indices.contains(next) ? name(tokens[next]) : nil
      })
  }
}

extension String {
  fileprivate var withSmallLimits: String {
    let sql = TokenizedSQL(self)
    let (tokens, ranks) = (sql.significant, sql.ranks)
    var bytes = sql.bytes
    for index in tokens.indices {
      guard let place = sql.placeOfLimit(index, in: tokens, ranks), tokens.indices.contains(place),
        tokens[place].kind == .integer,
        let limit = Int(sql.text(tokens[place])), limit > small, limit < unlimited
      else { continue }
      let range = tokens[place].range
      for byte in range { bytes[byte] = UInt8(ascii: "0") }
      bytes[range.upperBound - 1] += UInt8(small)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Less than the number of rows of any group in an experiment.
private let small = 2
/// A LIMIT of this number or more means no limit. SQL requires a LIMIT before an OFFSET.
private let unlimited = 1_000_000_000
