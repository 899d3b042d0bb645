import SchemaSQLText

extension Schema {
  /// The fingerprint for the history lock and ledgers (`docs/history.md`): 64 hexadecimal digits in
  /// lower case.
  ///
  /// It is the sum, modulo 2^256, of the SHA-256 of one entry for each object of `sqlite_schema`:
  /// the order of the objects makes no difference, and a change costs no more than the objects that
  /// it changes. An entry consists of the stored type, name and table, and the tokens of the SQL as
  /// in a manifest's digest. Each of them is encoded as its length in decimal, `:` and its bytes; a
  /// line feed ends the entry. An object without SQL has no tokens. The entry of a view also
  /// contains the names of its columns that are texts of expressions, unchanged: `a+b` and `a + b`
  /// are two names.
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
  /// Eight words, the most significant first.
  private var sum: [UInt32] = Array(repeating: 0, count: 8)
  /// Changes since the last digest. Few users need one after each step, and lint needs none.
  private var pending: [SchemaDelta] = []

  package init() {}

  package mutating func apply(_ delta: SchemaDelta) { pending.append(delta) }

  package mutating func digest() -> String {
    for delta in pending {
      for object in delta.before.values where !object.isOf(.usual) {
        add(object.entryDigest.map(~))
        // The complement plus one is the negative number.
        add([0, 0, 0, 0, 0, 0, 0, 1])
      }
      for object in delta.after.values where !object.isOf(.usual) { add(object.entryDigest) }
    }
    pending = []
    return SHA256.hex(words: sum)
  }

  private mutating func add(_ words: [UInt32]) {
    var carry: UInt64 = 0
    for index in sum.indices.reversed() {
      carry += UInt64(sum[index]) + UInt64(words[index])
      sum[index] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
  }
}

extension SchemaObject {
  fileprivate var entryDigest: [UInt32] {
    let names = [kind.rawValue, name, table].map { Array($0.utf8) }
    let tokens = tokens
    return SHA256.words(
      encodedTokens(names + tokens.canonicalTokens + resultTexts(tokens)) + [10])
  }
}
