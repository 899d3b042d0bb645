import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay

extension SchemaMigrator {
  /// Where a database stands. Nothing is written.
  ///
  /// - Parameter path: the database file.
  /// - Throws: ``SchemaError``, also when the database and the history contradict each other.
  public func status(databaseAt path: String) throws(SchemaError) -> DatabaseStatus {
    try status(databaseAt: path, Interruption())
  }

  func status(
    databaseAt path: String, _ interruption: Interruption
  ) throws(SchemaError) -> DatabaseStatus {
    do throws(Failure) {
      let project = try project()
      let report = try project.status(
        database: path, timeout: timeout, interruption: interruption)
      _ = try project.requireUsableLedger(report.applied, of: path)
      return DatabaseStatus(report)
    } catch {
      throw SchemaError(error)
    }
  }

  /// Checks that released migrations are unchanged, that the history can be replayed, and that a database
  /// has the schema of its history. Nothing is written.
  ///
  /// - Parameter path: nil checks the history alone.
  /// - Throws: ``SchemaError`` for what kept it from checking; the findings are in the report.
  public func verify(databaseAt path: String? = nil) throws(SchemaError) -> VerificationReport {
    try verify(databaseAt: path, Interruption())
  }

  func verify(
    databaseAt path: String?, _ interruption: Interruption
  ) throws(SchemaError) -> VerificationReport {
    let report: VerifyReport
    do throws(Failure) {
      report = try project().verify(
        database: path, timeout: timeout, interruption: interruption)
    } catch {
      throw SchemaError(error)
    }
    if let failure = report.failure { throw SchemaError(failure) }
    return VerificationReport(report)
  }

  /// Writes the ledger of a database that was made without SchemaKit, at the point of the history whose
  /// schema it has. Not needed where the migrations say what they `replaces`: migrating adopts such a
  /// database by itself.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - point: the id or the number of the last migration that the database has; nil looks for it.
  /// - Returns: the ids of the adopted migrations.
  /// - Throws: ``SchemaError`` when the schema is that of no point, or of several.
  @discardableResult
  public func adopt(
    databaseAt path: String, at point: String? = nil
  ) throws(SchemaError) -> [String] {
    do throws(Failure) {
      return try project().adopt(path, at: point, timeout: timeout).adopted
    } catch {
      throw SchemaError(error)
    }
  }

  #if DEBUG
    /// Puts a database back to the state before its first draft, for debug builds. What it replaces is kept
    /// beside it.
    ///
    /// - Parameter path: the database file.
    /// - Returns: the path of what was replaced.
    /// - Throws: ``SchemaError`` when there is no copy from before the drafts.
    @discardableResult
    public func resetDrafts(databaseAt path: String) throws(SchemaError) -> String {
      do throws(Failure) {
        return try DraftCopy(of: path).restore(project(), timeout: timeout).setAside
      } catch {
        throw SchemaError(error)
      }
    }
  #endif
}
