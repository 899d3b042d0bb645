import SchemaSQLText

extension Schema {
  /// The fingerprint for the history lock and ledgers (`docs/history.md`): 64 hexadecimal digits in
  /// lower case.
  ///
  /// It is the SHA-256 over one entry for each object of `sqlite_schema`, sorted by their bytes. An
  /// entry consists of the stored type, name and table, and the tokens of the SQL as in a
  /// manifest's digest. Each of them is encoded as its length in decimal, `:` and its bytes; a line
  /// feed ends the entry. An object without SQL has no tokens. The entry of a view also contains
  /// the names of its columns that are texts of expressions, unchanged: `a+b` and `a + b` are two
  /// names.
  ///
  /// It excludes objects whose name begins with `sqlite_`, and the ledger `schemactl_migrations`
  /// with its objects; ASCII case makes no difference to either.
  ///
  /// This never changes, because locks and ledgers of every release contain it.
  package func fingerprint() -> String {
    var running = RunningFingerprint()
    running.apply(SchemaDelta(from: Schema(), to: self))
    return running.digest()
  }
}

/// The fingerprint of a schema that changes step by step.
package struct RunningFingerprint: Sendable {
  /// Sorted by their bytes.
  private var entries: [[UInt8]] = []
  /// The hash states after every `stride` entries. A change of one object needs to hash only the
  /// entries after it.
  private var hashed: [SHA256] = []
  private static let stride = 16
  /// Changes since the last digest. Few users need one after each step, and lint needs none.
  private var pending: [SchemaDelta] = []

  package init() {}

  package mutating func apply(_ delta: SchemaDelta) { pending.append(delta) }

  private mutating func merge(_ delta: SchemaDelta) {
    for object in delta.before.values where !object.isOf(.usual) {
      let entry = object.fingerprintEntry
      let place = self.place(of: entry)
      guard place < entries.count, entries[place] == entry else { continue }
      entries.remove(at: place)
      forget(from: place)
    }
    for object in delta.after.values where !object.isOf(.usual) {
      let entry = object.fingerprintEntry
      let place = place(of: entry)
      entries.insert(entry, at: place)
      forget(from: place)
    }
  }

  package mutating func digest() -> String {
    for delta in pending { merge(delta) }
    pending = []
    var hash = hashed.last ?? SHA256()
    // Hash large pieces, which is much faster than many small ones.
    var piece: [UInt8] = []
    for index in hashed.count * Self.stride..<entries.count {
      piece += entries[index]
      guard (index + 1).isMultiple(of: Self.stride) else { continue }
      hash.update(piece)
      hashed.append(hash)
      piece.removeAll(keepingCapacity: true)
    }
    hash.update(piece)
    return hash.finishHex()
  }

  private mutating func forget(from place: Int) {
    hashed.removeLast(max(0, hashed.count - place / Self.stride))
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

extension SchemaObject {
  fileprivate var fingerprintEntry: [UInt8] {
    let names = [kind.rawValue, name, table].map { Array($0.utf8) }
    let tokens = TokenizedSQL(sql ?? "")
    return encodedTokens(names + tokens.canonicalTokens + resultTexts(tokens)) + [10]
  }
}
