import Foundation
import PackagePlugin

/// Compiles the migrations of a target, or of its package, into the resource `migrations.schema`. The build
/// fails if the history is invalid.
@main
struct SchemaBundlePlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folders = [target.directoryURL, context.package.directoryURL]
    guard
      let folder = folders.map({ $0.appending(path: "migrations") }).first(where: { isFolder($0) })
    else {
      Diagnostics.error(
        "`\(target.name)` has no folder `migrations`, and neither has its package")
      return []
    }
    let output = context.pluginWorkDirectoryURL.appending(path: "migrations.schema")
    let configuration = folder.deletingLastPathComponent().appending(path: "schemactl.yaml")
    let isConfigured = FileManager.default.fileExists(
      atPath: configuration.path(percentEncoded: false))
    // The enumerator also lists subfolders: a squash moves manifests to the folder `squashed`.
    let inputs = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.filter { !isFolder($0) }
    return [
      .buildCommand(
        displayName: "Compiling the migrations of \(target.name)",
        executable: try context.tool(named: "schemactl").url,
        arguments: [
          "bundle", "--migrations", folder.path(percentEncoded: false), "--output",
          output.path(percentEncoded: false),
        ] + (isConfigured ? ["--config", configuration.path(percentEncoded: false)] : []),
        inputFiles: (inputs ?? []) + (isConfigured ? [configuration] : []), outputFiles: [output])
    ]
  }

  private func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(
      atPath: url.path(percentEncoded: false), isDirectory: &isFolder)
      && isFolder.boolValue
  }
}
