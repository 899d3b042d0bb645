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
    let entries = ours { $0.asciiLowercased == ledger }.objects.map(\.fingerprintEntry)
    var hash = SHA256()
    for entry in entries.sorted(by: { $0.lexicographicallyPrecedes($1) }) { hash.update(entry) }
    return hash.finishHex()
  }
}

private let ledger = "schemactl_migrations"

extension SchemaObject {
  fileprivate var fingerprintEntry: [UInt8] {
    let names = [kind.rawValue, name, table].map { Array($0.utf8) }
    return encodedTokens(names + TokenizedSQL(sql ?? "").verbatimTokens) + [10]
  }
}
