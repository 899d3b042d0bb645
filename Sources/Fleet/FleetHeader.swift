import SchemaHistory
import SchemaSQLText

/// The header of a report: the work, the list of databases, and the shard.
package struct FleetHeader: Sendable, Equatable {
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

  package init(command: String, history: String, list: DatabaseList) {
    self.init(
      command: command, history: history, digest: list.digest, listed: list.listed,
      shard: list.shard, count: list.count)
  }

  init(
    command: String, history: String, digest: String, listed: Int, shard: Shard, count: Int
  ) {
    self.command = command
    self.history = history
    self.digest = digest
    self.listed = listed
    self.shard = shard
    self.count = count
  }

  package static func == (a: FleetHeader, b: FleetHeader) -> Bool {
    a.command == b.command && a.history == b.history && a.digest == b.digest
      && a.listed == b.listed && a.shard == b.shard && a.count == b.count
  }
}
