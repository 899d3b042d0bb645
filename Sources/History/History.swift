/// The frozen history and the ledger, as values.
///
/// - ``Migration``: a manifest with its id and digests. ``MigrationFolder``: the folder of the manifests.
/// - ``HistoryLock``: reads and writes `history.lock`; ``MigrationFolder/compare(_:with:)`` compares
///   it with the manifests.
/// - ``Ledger``: reads and writes the migrations table of a database; ``compareLedger(_:with:_:)``
///   compares it with the history.
/// - ``DatabaseFile``, ``LiveDatabase``: open a database, and read its ledger and schema.
/// - ``Failure``, ``ExitStatus``: the reason why a command stopped.
