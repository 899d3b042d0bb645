import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The pending migrations on a private copy of the first rows of each table that a statement reads or writes at once.
/// It measures statements that are slow even with few rows, such as those with a subquery for each row.
struct RowRehearsal {
  /// The seconds of each statement of the plans, by migration and number.
  private(set) var durations: [[Double]] = []

  /// - Parameter tables: those that statements read or write at once, by their names in the database.
  init(
    of plans: [RemotePlan], _ live: Schema, _ tables: [TableLoad], _ application: Application,
    on cluster: Cluster
  ) throws(Failure) {
    var application = application
    application.limit.seconds = 2
    let samples = try cluster.ask { (leader) throws(DatabaseError) in
      var samples: [(insertion: String, rows: [[Value]])] = []
      for load in tables {
        let columns = quotedList(load.columns)
        let places = Array(repeating: "?", count: load.columns.count).joined(separator: ", ")
        let name = "main.\(Quoting.quoted(load.table))"
        samples.append(
          (
            "INSERT OR IGNORE INTO \(name) (\(columns)) VALUES (\(places))",
            try leader.rows("SELECT \(columns) FROM \(name) LIMIT \(TableLoad.fewRows)")
          ))
      }
      return samples
    }
    do throws(DatabaseError) {
      let connection = try live.scratch(application)
      connection.set(.triggers, to: false)
      try connection.execute("BEGIN")
      for sample in samples {
        let statement = try connection.prepare(sample.insertion)
        for row in sample.rows {
          try statement.bind(row)
          try statement.run()
          statement.reset()
        }
      }
      try connection.execute("COMMIT")
      connection.set(.triggers, to: true)
      run(plans, on: connection, application)
    } catch {
      // A table whose rows cannot be copied is judged by its first rows on the leader alone.
      guard !error.isFault else {
        throw Failure(error.status, "the scratch database cannot be written: \(error.inWords)")
      }
    }
  }

  /// A migration that fails here fails on the cluster, too, which then reports it.
  private mutating func run(
    _ plans: [RemotePlan], on connection: Connection, _ application: Application
  ) {
    guard
      let scratch = try? ScratchDatabase(on: connection, application, CallRecord(), isCopy: false)
    else { return }
    var own: [Double] = []
    scratch.observe(comparesSchemas: false) { statement, _ in
      own.append(statement.seconds)
    }
    for plan in plans {
      own = []
      do throws(Failure) {
        try scratch.apply(plan.migration)
        durations.append(own)
      } catch {
        if case .seconds(let seconds)? = error.exceeded { own.append(seconds) }
        durations.append(own)
        return
      }
    }
  }

  /// - Returns: seconds; nil for a statement that was not reached.
  func duration(ofStatement number: Int, in plan: Int) -> Double? {
    guard plan < durations.count, number < durations[plan].count else { return nil }
    return durations[plan][number]
  }
}
