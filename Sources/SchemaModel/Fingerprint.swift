import SQLText

extension Schema {
  /// The fingerprint, version 1, as the history lock and ledgers hold it (`docs/history.md`).
  ///
  /// SHA-256 over the sorted (type, name, table, SQL tokens without white space and comments) of
  /// the objects, without SQLite's own and those that `isForeign` names. It never changes: locks
  /// and ledgers of every release hold it.
  package func fingerprint(except isForeign: (String) -> Bool = { _ in false }) -> String {
    let entries = ours(except: isForeign).objects.map(\.fingerprintEntry)
    var hash = SHA256()
    for entry in entries.sorted(by: { $0.lexicographicallyPrecedes($1) }) { hash.update(entry) }
    return hash.finishHex()
  }
}

extension SchemaObject {
  /// Three names and then the tokens, each with its length before it, ended by a line feed.
  fileprivate var fingerprintEntry: [UInt8] {
    let names = [kind.rawValue, name, table].map { Array($0.utf8) }
    return encodedTokens(names + TokenizedSQL(sql ?? "").verbatimTokens) + [10]
  }
}
