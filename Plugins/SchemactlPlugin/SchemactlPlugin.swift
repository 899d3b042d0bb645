import Foundation
import PackagePlugin

/// `swift package schemactl-check [OPTIONS]` runs `schemactl check` in the package's folder and passes the
/// options unchanged.
@main
struct SchemactlPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let check = Process()
    check.executableURL = try context.tool(named: "schemactl").url
    check.arguments = ["check"] + arguments
    check.currentDirectoryURL = context.package.directoryURL
    try check.run()
    check.waitUntilExit()
    guard check.terminationReason == .exit else { exit(70) }
    // SwiftPM shows this exit code, but fails with a different one.
    if check.terminationStatus != 0 { exit(check.terminationStatus) }
  }
}
