extension Schema {
  /// The fingerprint, version 1, as the history lock and ledgers hold it (`docs/history.md`).
  ///
  /// SHA-256 over the sorted (type, name, table, SQL tokens without white space and comments) of
  /// the objects, without SQLite's own and those that `isForeign` names. It never changes: locks
  /// and ledgers of every release hold it.
  package func fingerprint(except isForeign: (String) -> Bool = { _ in false }) -> String {
    // Replaced when the tokenizer lands.
    SHA256.hex(ours(except: isForeign).objects.map { $0.sql ?? "" }.sorted().joined().utf8)
  }
}
