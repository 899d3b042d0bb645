/// Works on many databases, each with its own ledger, locks and result.
///
/// - ``DatabaseList``: the names, in a temporary table, so that memory does not grow with their number.
/// - ``ReplayedHistory``: the history, read and replayed once for all of them.
/// - ``Shard``: the part of a list that one machine takes.
/// - ``FleetWork``: the work on one database: migrate, status or verify.
/// - ``FleetRun``: the threads, the canary databases, the second try of busy ones.
/// - ``FleetSummary``: the sum of the results. ``FleetMerge``: the sum of several reports.
