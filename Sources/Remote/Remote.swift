/// Migrates the database of a dqlite cluster instead of a database file.
///
/// - ``ClusterAddress`` is the value of `--database dqlite://…`.
/// - ``Cluster`` holds the connection to the leader. ``NodeConnection``, ``MessageWriter`` and
///   ``MessageReader`` implement the wire protocol.
/// - ``ClusterCopy`` is a private database with the schema and the ledgers. schemactl plans with it.
/// - ``RemotePlan`` translates a finished plan to statements for the leader, or explains why it cannot run
///   there.
/// - ``Project/migrate(_:on:options:onEvent:)`` sends the plans, each in one transaction.
