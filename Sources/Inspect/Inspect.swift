/// Reads databases and histories, and adopts databases or repairs their ledgers.
///
/// - ``Project/verify(_:continuing:interruption:)``: replays the history and compares a database.
/// - ``Project/status(of:mayBeEmpty:comparesSchema:)``, ``Project/diff(of:)``: the state of a database.
/// - ``SchemaFile``: a file with the latest schema.
/// - ``AdoptReport``, ``LedgerRepair``: write ledger rows without running a migration.
