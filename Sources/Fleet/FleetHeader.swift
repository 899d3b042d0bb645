import SchemaHistory

/// The header of a report: the work, the list of databases, and the shard.
package struct FleetHeader: Sendable {
  /// `migrate`, `status` or `verify`.
  package let command: String
  /// Identifies the history.
  package let history: String
  /// Identifies the whole list.
  package let digest: String
  /// How many databases the whole list names.
  package let listed: Int
  package let shard: Shard
  /// How many of them belong to the shard.
  package let count: Int
}

extension FleetHeader {
  package init(command: String, history: String, list: DatabaseList) {
    self.init(
      command: command, history: history, digest: list.digest, listed: list.listed,
      shard: list.shard, count: list.count)
  }
}
