extension Connection {
  /// Runs `body` and rolls back its changes. An open transaction continues.
  package func rollingBack<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    try execute("SAVEPOINT schemactl_trial")
    let result = Swift.Result { () throws(DatabaseError) in try body() }
    // A trigger or ON CONFLICT ROLLBACK may have ended the transaction already.
    if isInTransaction { try execute("ROLLBACK TO schemactl_trial; RELEASE schemactl_trial") }
    return try result.get()
  }
}
