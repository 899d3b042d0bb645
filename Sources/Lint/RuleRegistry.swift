import SchemaTimeline

// `make rules` generates this file from the names of the files in `Rules`.

extension Rule {
  /// All rules, sorted by the names of their files.
  static let registered: [Rule] = [
    brokenObject,
    changeType,
    cloudKitName,
    dataWriteOnSyncedTable,
    dependentsReadNewValues,
    discouragedStatement,
    doubleQuotedString,
    dropColumn,
    dropConstraint,
    dropObject,
    dropTable,
    failsOnData,
    foreignKeyWithoutIndex,
    ifNotExists,
    losesRows,
    losesValues,
    missingStrict,
    newRequiredColumn,
    newerSQLiteNeeded,
    nonDeterministicData,
    notNullWithoutConflictDefault,
    primaryKeyChange,
    queryBroken,
    rebuildLosesObject,
    redundantIndex,
    renameColumn,
    renameTable,
    selectStarInView,
    selfReadingUpdate,
    syncedForeignKey,
    syncedPrimaryKey,
    syncedUnique,
    textDefaultLooksLikeSQL,
    twoDevices,
    unguardedTriggerOnSyncedTable,
    unusedSuppression,
    wideBlob,
    withoutWhere,
  ]
}
