import Foundation
import PackagePlugin

/// Compiles the migrations of a target, or of its package, into the resource `migrations.schema`. The build
/// fails when the history is invalid.
@main
struct SchemaBundlePlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folders = [target.directoryURL, context.package.directoryURL]
    guard
      let folder = folders.map({ $0.appending(path: "migrations") }).first(where: { isFolder($0) })
    else {
      Diagnostics.error(
        "\(target.name) has no folder `migrations`, and neither has its package")
      return []
    }
    let output = context.pluginWorkDirectoryURL.appending(path: "migrations.schema")
    let configuration = folder.deletingLastPathComponent().appending(path: "schemactl.yaml")
    let isConfigured = FileManager.default.fileExists(atPath: configuration.path())
    let inputs = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return [
      .buildCommand(
        displayName: "Compiling the migrations of \(target.name)",
        executable: try context.tool(named: "schemactl").url,
        arguments: ["bundle", "--migrations", folder.path(), "--output", output.path()]
          + (isConfigured ? ["--config", configuration.path()] : []),
        inputFiles: inputs + (isConfigured ? [configuration] : []), outputFiles: [output])
    ]
  }

  private func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path(), isDirectory: &isFolder)
      && isFolder.boolValue
  }
}
