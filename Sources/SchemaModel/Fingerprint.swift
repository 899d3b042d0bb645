import SQLText

extension Schema {
  /// The fingerprint, version 1, as the history lock and ledgers hold it (`docs/history.md`): 64
  /// hexadecimal digits in lower case.
  ///
  /// SHA-256 over one entry for each object of `sqlite_schema`, sorted by their bytes. An entry is
  /// the type, the name and the table as they stand there, and then the tokens of the SQL as they
  /// are written, without white space and comments; each of them as its length in decimal, `:` and
  /// its bytes; at the end a line feed. An object without SQL has no tokens.
  ///
  /// Left out is what has `sqlite_` at the beginning of its name, and the ledger
  /// `schemactl_migrations` with all that belongs to it; ASCII case makes no difference to either.
  ///
  /// This never changes: locks and ledgers of every release hold it.
  package func fingerprint() -> String {
    var running = RunningFingerprint()
    running.apply(SchemaDelta(from: Schema(), to: self))
    return running.digest
  }
}

/// The fingerprint of a schema that changes step by step.
package struct RunningFingerprint: Sendable {
  /// Sorted by their bytes.
  private var entries: [[UInt8]] = []

  package init() {}

  package mutating func apply(_ delta: SchemaDelta) {
    for object in delta.before.values where !object.isOfLedger {
      let entry = object.fingerprintEntry
      let place = self.place(of: entry)
      if place < entries.count, entries[place] == entry { entries.remove(at: place) }
    }
    for object in delta.after.values where !object.isOfLedger {
      let entry = object.fingerprintEntry
      entries.insert(entry, at: place(of: entry))
    }
  }

  package var digest: String {
    var hash = SHA256()
    for entry in entries { hash.update(entry) }
    return hash.finishHex()
  }

  private func place(of entry: [UInt8]) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].lexicographicallyPrecedes(entry) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}

private let ledger = "schemactl_migrations"

extension SchemaObject {
  fileprivate var isOfLedger: Bool {
    name.asciiLowercased == ledger || table.asciiLowercased == ledger
  }

  fileprivate var fingerprintEntry: [UInt8] {
    let names = [kind.rawValue, name, table].map { Array($0.utf8) }
    return encodedTokens(names + TokenizedSQL(sql ?? "").verbatimTokens) + [10]
  }
}
