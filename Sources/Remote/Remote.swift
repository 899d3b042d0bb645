/// A dqlite cluster in place of a database file.
///
/// - ``ClusterAddress``: what `--database dqlite://…` names.
/// - ``Cluster``: the connection to the leader. ``NodeConnection``, ``MessageWriter``, ``MessageReader``: the
///   wire protocol.
/// - ``ClusterCopy``: schema and ledger on a private database, which every question is asked of.
/// - ``RemotePlan``: a finished plan as statements for the leader, or why it cannot run there.
/// - ``Project/migrate(_:on:options:onEvent:)``: sends the plans, each in one transaction.
