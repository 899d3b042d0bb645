/// Migrates one database.
///
/// - ``Project/migrate(_:reading:interruption:onEvent:)``: applies the pending migrations. `Upgrade` contains
///   the transactions; `Batch` decides which migrations share one.
/// - ``MigrationFolder/isUpToDate(_:_:)``: whether `migrate` has anything to do.
