/// A dqlite cluster in place of a database file.
///
/// - ``ClusterAddress``: the value of `--database dqlite://…`.
/// - ``Cluster``: the connection to the leader. ``NodeConnection``, ``MessageWriter``, ``MessageReader``: the
///   wire protocol.
/// - ``ClusterCopy``: a private database with the schema and the ledgers, from which schemactl plans.
/// - ``RemotePlan``: a finished plan as statements for the leader, or why it cannot run there.
/// - ``Project/migrate(_:on:options:onEvent:)``: sends the plans, each in one transaction.
