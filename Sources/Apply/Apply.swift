/// Migrates one database.
///
/// - ``Project/migrate(_:on:interruption:onEvent:)``: applies the pending migrations. `Upgrade` holds the
///   transactions, `Batch` the rule which migrations share one.
/// - ``MigrationFolder/isUpToDate(_:_:timeout:interruption:onWait:)``: whether there is anything to do.
