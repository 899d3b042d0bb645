/// Questions about a database or a history that change nothing, and the ledger's adoption and repair.
///
/// - ``Project/verify(_:continuing:interruption:)``: replays the history and compares a database.
/// - ``Project/status(of:mayBeEmpty:comparesSchema:)``, ``Project/diff(of:)``.
/// - ``Project/proveReplay(noting:everyPair:interruption:)``: every release leads to the same schema.
/// - ``SchemaFile``: a file with the latest schema.
/// - ``AdoptReport``, ``LedgerRepair``: write ledger rows without running a migration.
