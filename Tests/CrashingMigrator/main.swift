import Foundation
import History
import Migrating

// Migrates a database and kills itself, as `kill -9` does, at the event whose number it is given.
//
//   CrashingMigrator FOLDER DATABASE NUMBER
//
// Ends with 0 when there were fewer events, after printing how many.

let arguments = CommandLine.arguments
guard arguments.count == 4, let last = Int(arguments[3]) else { exit(64) }
let folder = MigrationFolder(arguments[1])
let project = Project(
  folder: folder, migrations: try folder.migrations(), lock: try folder.lock())
var events = 0
let report = try project.migrate(MigrateOptions(database: arguments[2])) { _ in
  events += 1
  if events == last { kill(getpid(), SIGKILL) }
}
print(events)
exit(report.status.rawValue)
