/// Migrates one database.
///
/// - ``Project/migrate(_:interruption:onEvent:)``: applies the pending migrations. `Upgrade` holds the
///   transactions, `Batch` the rule which migrations share one.
/// - ``MigrationFolder/isUpToDate(_:timeout:interruption:onWait:)``: whether there is anything to do.
