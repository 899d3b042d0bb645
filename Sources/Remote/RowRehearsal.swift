import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The pending migrations on a private copy of the first rows of each table that a statement reads or writes at once.
/// It measures what is slow even with few rows, such as a subquery for each row.
struct RowRehearsal {
  /// The seconds of each step of the plans, by migration and step, as far as they ran.
  private var durations: [[Double]] = []

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
    let connection: Connection
    do throws(DatabaseError) {
      connection = try live.scratch(application)
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
      connection.set(.trustedSchema, to: true)
    } catch {
      throw Failure(
        error.isFault ? error.status : .invalidInput,
        "the time of the migrations cannot be estimated, because the first rows cannot be copied to a private "
          + "database: \(error.inWords). Nothing was changed")
    }
    run(plans, on: connection)
  }

  /// A migration that fails here fails on the cluster, too, which then reports it.
  private mutating func run(_ plans: [RemotePlan], on connection: Connection) {
    for (index, plan) in plans.enumerated() {
      durations.append([])
      for step in plan.steps {
        let time = Stopwatch()
        let isDone = (try? connection.execute(step.action.sql)) != nil
        durations[index].append(time.seconds)
        guard isDone else { return }
      }
    }
  }

  /// - Returns: seconds; nil for a step that was not reached.
  func duration(ofStep number: Int, in plan: Int) -> Double? {
    guard plan < durations.count, number < durations[plan].count else { return nil }
    return durations[plan][number]
  }
}
