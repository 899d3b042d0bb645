/// The scratch database: the only way to run a history privately.
///
/// - ``Project``: a history with everything that running it needs.
/// - ``Project/replay(_:interruption:preparing:observing:)``: runs it, and reports each step.
/// - ``ScratchDatabase``: the scratch database. ``Runner``: runs one migration on a connection, scratch or real.

import SchemaHistory
import SchemaModel
import SchemaPlanning

extension Project {
  /// Replays the history on a scratch database: the only way in which a history runs privately.
  ///
  /// - Parameters:
  ///   - migrations: a part of the history, in order; nil replays all of it.
  ///   - base: the schema that the history has before them.
  ///   - isTrusted: whether the history has made the base.
  ///   - application: replaces the project's.
  ///   - isForLint: unknown functions and collations are reported with the statement that needs them.
  ///   - prepare: called once, before the first migration runs.
  ///   - observe: called after each migration.
  /// - Returns: the scratch database, as the last migration left it.
  /// - Throws: the failure of a migration, which `observe` has not seen, and what `observe` throws.
  @discardableResult
  package func replay(
    _ migrations: [Migration]? = nil, from base: Schema = Schema(), isTrusted: Bool = true,
    application: Application? = nil, isForLint: Bool = false,
    interruption: Interruption = Interruption(),
    preparing prepare: (ScratchDatabase) throws(Failure) -> Void = { _ in },
    observing observe: (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in }
  ) throws(Failure) -> ScratchDatabase {
    let scratch = try ScratchDatabase(
      application ?? self.application, from: base, isTrusted: isTrusted, isForLint: isForLint,
      interruption: interruption)
    scratch.isReleased = isFrozen
    try prepare(scratch)
    for migration in migrations ?? self.migrations {
      try observe(try scratch.apply(migration), scratch)
    }
    return scratch
  }
}
