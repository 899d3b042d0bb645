/// Runs a command on many databases. Each database has its own ledger, locks and result.
///
/// - ``DatabaseList`` stores the names in a temporary table, so that memory does not grow with their number.
/// - ``ReplayedHistory`` is the history, read and replayed once for all databases.
/// - ``Shard`` is the part of a list that one machine processes.
/// - ``FleetWork`` processes one database: migrate, status or verify.
/// - ``FleetRun`` runs the threads, starts with the canary databases, and tries busy databases a second time.
/// - ``FleetSummary`` counts the results. ``FleetMerge`` combines several reports.
