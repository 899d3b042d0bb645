import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Runs the pending migrations on a private copy of the first rows of each table. Measures statements that
/// are slow even with few rows, such as one with a subquery for each row.
///
/// - Parameter tables: the tables that undivided statements read or write, by their names in the database.
/// - Returns: the duration of each step in seconds, by migration and step.
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
      // A step that fails here may run on the cluster, whose tables have more rows. So continue with the
      // later steps.
      _ = try? connection.execute(step.action.sql)
      return time.seconds
    }
  }
}
