import SchemaTimeline

// Made by `make rules` from the names of the files in `Rules`.

extension Rule {
  /// Every rule, by the name of its file.
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
