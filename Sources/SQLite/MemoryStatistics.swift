import SchemaCSQLite

/// Lets SQLite allocate without counting, which takes a lock each time: a tenth of a replay, and more
/// when two threads run one each. Nobody reads the count, and the only limits that need it are
/// those of the heap, which nobody sets.
///
/// It is for the whole process, so that only a program of ours may do it, and does nothing once
/// SQLite has been used in it (`SQLITE_CONFIG_MEMSTATUS`).
package func stopMemoryStatistics() {
  _ = schemactl_config_memstatus(0)
}
