/// Changes to a history, and files that begin one.
///
/// - ``Project/freezing(release:through:repair:freezesDrafts:)`` and ``Project/accepting(_:reason:)`` compute
///   a new lock.
/// - ``renumbering(_:in:among:frozen:now:)`` gives drafts new numbers.
/// - ``SchemaSource`` reads the schema of a database, a history or an SQL file.
/// - ``SchemaTransition`` finds the operations that lead from one schema to another.
/// - ``NewManifest``, ``FirstManifest`` and ``ProjectFiles`` create the files that begin or continue a
///   history.
