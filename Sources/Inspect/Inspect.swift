/// Questions about a database or a history that change nothing, and the ledger's adoption and repair.
///
/// - ``Project/verify(database:timeout:interruption:continuing:)``: replays the history and compares a database.
/// - ``Project/status(database:timeout:interruption:)``, ``Project/diff(database:timeout:interruption:)``.
/// - ``Project/proveReplay(noting:everyPair:interruption:)``: every release leads to the same schema.
/// - ``AdoptReport``, ``LedgerRepair``: write ledger rows without running a migration.
