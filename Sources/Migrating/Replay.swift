import History
import Planning
import SchemaModel

extension Project {
  /// Replays the history on a scratch database: the only way in which a history runs privately.
  ///
  /// - Parameters:
  ///   - migrations: a part of the history, in order; nil replays all of it.
  ///   - application: replaces the project's.
  ///   - skipsRefused: statements that a migration may not hold are skipped, so that lint can report
  ///     them and look at what follows; otherwise they fail.
  ///   - prepare: called once, before the first migration runs.
  ///   - observe: called after each migration.
  /// - Returns: the scratch database, as the last migration left it.
  /// - Throws: the failure of a migration, which `observe` has not seen, and what `observe` throws.
  @discardableResult
  package func replay(
    _ migrations: [Migration]? = nil, application: Application? = nil, skipsRefused: Bool = false,
    interruption: Interruption = Interruption(), preparing prepare: (Shadow) -> Void = { _ in },
    observing observe: (Shadow.Step, Shadow) throws(Failure) -> Void = { _, _ in }
  ) throws(Failure) -> Shadow {
    let shadow = try Shadow(
      application ?? self.application, passesOverRefused: skipsRefused,
      interruption: interruption)
    shadow.isReleased = isFrozen
    prepare(shadow)
    for migration in migrations ?? self.migrations {
      try observe(try shadow.apply(migration), shadow)
    }
    return shadow
  }
}
