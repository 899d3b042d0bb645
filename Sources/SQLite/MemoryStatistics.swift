import SchemaCSQLite

/// Disables SQLite's memory statistics, which take a lock for each allocation: a tenth of the time
/// of a replay, and more with two threads. Nothing reads the statistics, and only heap limits,
/// which are not used, need them.
///
/// The setting applies to the whole process, so that only a program, not a library, may change it.
/// It has no effect after the first use of SQLite (`SQLITE_CONFIG_MEMSTATUS`).
package func stopMemoryStatistics() {
  _ = schemactl_config_memstatus(0)
}
