/// Changes to the history itself.
///
/// - ``Project/freezing(release:through:repair:freezesDrafts:)``, ``Project/accepting(_:reason:)``: the next lock.
/// - ``renumbering(_:in:among:frozen:now:)``: other numbers for drafts.
/// - ``SchemaSource``: the schema of a database, a history or a file of SQL. ``TableDescription``: its tables.
/// - ``SchemaTransition``: the operations that lead from one schema to another. ``NewOperations``: from the latest one.
/// - ``NewManifest``, ``FirstManifest``, ``ProjectFiles``: files that begin or continue a history.
