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
///
/// - Parameter tables: those that statements read or write at once, by their names in the database.
/// - Returns: the seconds of each step of the plans, by migration and step.
func rehearsedDurations(
  of plans: [RemotePlan], _ live: Schema, _ tables: [TableLoad], _ application: Application,
  on cluster: Cluster
) throws(Failure) -> [[Double]] {
  let samples = try cluster.ask { (leader) throws(DatabaseError) in
    var samples: [CopiedRows] = []
    for load in tables { samples.append(try CopiedRows(firstOf: load, on: leader)) }
    return samples
  }
  let connection: Connection
  do throws(DatabaseError) {
    connection = try live.scratch(application)
    try connection.fill(samples)
    connection.set(.trustedSchema, to: true)
  } catch {
    throw Failure(
      error.isFault ? error.status : .invalidInput,
      "schemactl cannot estimate the time of the migrations, because it cannot copy the first rows "
        + "to a private database: \(error.inWords). Nothing changed")
  }
  var limit = application.limit
  limit.seconds = 2
  return plans.map { plan in
    plan.steps.map { step in
      try? connection.limitWork(to: limit)
      let time = Stopwatch()
      // A step that fails here may run on the cluster, whose tables have more rows, and so may the steps after it.
      _ = try? connection.execute(step.action.sql)
      return time.seconds
    }
  }
}
