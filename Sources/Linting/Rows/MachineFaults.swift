import SQLite

extension DatabaseError {
  /// Whether the machine is at fault. On a private database in memory everything else is an answer: a
  /// virtual table that a trigger writes may say that it is corrupt, or read-only.
  var isOfMachine: Bool {
    [.outOfMemory, .interrupted, .ioError, .full, .cannotOpen].contains(code)
  }
}
