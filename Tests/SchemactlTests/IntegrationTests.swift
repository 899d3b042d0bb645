import Foundation
import SchemaTestPrograms
import Testing

/// Integrations that run schemactl, run in the same way as by their hosts.
@Suite("Integrations")
struct IntegrationTests {
  // MARK: GitHub Action

  /// The scripts of `action.yml`, by the names of their steps.
  private static func scripts() throws -> [String: String] {
    let text = try String(
      contentsOf: repository.appendingPathComponent("action.yml"), encoding: .utf8)
    var scripts: [String: String] = [:]
    var name = ""
    var indentation: Int?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let depth = line.prefix { $0 == " " }.count
      if let start = indentation, line.isEmpty || depth >= start {
        scripts[name, default: ""] += line.dropFirst(start) + "\n"
        continue
      }
      indentation = nil
      if let range = line.range(of: "- name: ") { name = String(line[range.upperBound...]) }
      if line.hasSuffix("run: |") { indentation = depth + 2 }
    }
    return scripts
  }

  /// Runs a step like GitHub with `shell: bash`.
  private func step(
    _ name: String, in folder: WorkingFolder, _ subfolder: String = "",
    _ environment: [String: String] = [:]
  ) throws -> Finished {
    let script = try #require(try Self.scripts()[name], "there is no step \(name)")
    let variables = [
      "BASE": "", "STRICT": "false", "SARIF": "", "GITHUB_WORKSPACE": folder.path,
      "GITHUB_BASE_REF": "",
    ].merging(environment) { $1 }
    return try bash(script, in: folder.path(subfolder), variables)
  }

  /// The variables that GitHub sets for the first step, with a folder instead of its server.
  private func download(
    in folder: WorkingFolder, repository name: String = "acme/schemactl", hasSchemactl: Bool = false
  ) throws -> Finished {
    let variables = [
      "SERVER": "file://\(folder.path)", "REPOSITORY": name, "RUNNER_TEMP": folder.path,
      "GITHUB_ACTION_PATH": repository.path, "GITHUB_PATH": folder.path("path"),
      "GITHUB_OUTPUT": folder.path("output"),
    ]
    let path = hasSchemactl ? [:] : ["PATH": "/usr/bin:/bin"]
    return try step("Download schemactl", in: folder, "", variables.merging(path) { $1 })
  }

  /// Creates a release in GitHub's layout; its program prints `released`.
  private func release(in folder: WorkingFolder, tampered: Bool = false) throws {
    let script = """
      version=$('\(repository.path)/Scripts/version')
      system=$(uname -s | tr '[:upper:]' '[:lower:]')
      name=schemactl-$version-${system/darwin/macos}-$(uname -m)
      release=acme/schemactl/releases/download/v$version
      mkdir -p "$release" "$name/bin"
      printf '#!/bin/sh\\necho released\\n' > "$name/bin/schemactl"
      chmod +x "$name/bin/schemactl"
      tar -czf "$release/$name.tar.gz" "$name"
      cd "$release" && (sha256sum "$name.tar.gz" || shasum -a 256 "$name.tar.gz") > SHA256SUMS
      \(tampered ? "echo >> $name.tar.gz" : "")
      """
    #expect(try bash(script, in: folder.path).status == 0)
  }

  @Test("the action uses schemactl from the path")
  func actionFindsProgram() throws {
    let folder = try WorkingFolder()
    let run = try download(in: folder, hasSchemactl: true)
    #expect(run.status == 0)
    #expect((run.output + run.errors).isEmpty)
    #expect(!folder.exists("path") && !folder.exists("output"))
  }

  @Test("the action downloads the release of its own version and checks its digest")
  func actionDownloads() throws {
    let folder = try WorkingFolder()
    try release(in: folder)
    let run = try download(in: folder)
    #expect(run.status == 0, "\(run.errors)")
    let found = try bash("PATH=$(cat path); schemactl", in: folder.path)
    #expect(found.output == "released\n")
    #expect(!folder.exists("output"))

    let other = try WorkingFolder()
    try release(in: other, tampered: true)
    #expect(try download(in: other).status != 0)
    #expect(!other.exists("path"))
  }

  @Test("the action builds schemactl if no release is found", arguments: ["acme/schemactl", ""])
  func actionBuilds(repository: String) throws {
    let folder = try WorkingFolder()
    let run = try download(in: folder, repository: repository)
    #expect(run.status == 0, "\(run.errors)")
    let output = try String(contentsOfFile: folder.path("output"), encoding: .utf8)
    #expect(output.hasPrefix("build=true\nkey=schemactl-"))
    #expect(!folder.exists("path"))
  }

  @Test("the action annotates findings and fails like the check")
  func actionChecks() throws {
    let clean = try step("Check", in: .ofReminders())
    #expect(clean.status == 0)
    #expect(clean.output.isEmpty)
    let run = try step("Check", in: troubledHistory())
    #expect(run.status == 2)
    #expect(
      run.output.contains("::error file=migrations/0001_notes.yaml,line=1,title=history/edited::"))
  }

  /// A history in a subfolder of a repository, with a suppressed finding and a warning.
  private func monorepo() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([:])
    try folder.makeFolder(".git")
    try folder.makeFolder("apps/one/migrations")
    try folder.write("apps/one/migrations/0001_notes.yaml", tableOfNotes)
    try folder.write(
      "apps/one/migrations/0002_drop.yaml", manifest("ALTER TABLE notes DROP COLUMN text"))
    try folder.write(
      "apps/one/migrations/0003_drop.yaml",
      manifest("DROP TABLE notes") + "lint: { allow: [{ rule: drop-table, reason: unused }] }\n")
    try folder.write("apps/one/schemactl.yaml", "sync: { engine: none }\n")
    return folder
  }

  @Test("the action has inputs for a folder of the repository and for strict checks")
  func actionInputs() throws {
    let folder = try monorepo()
    #expect(try step("Check", in: folder, "apps/one").status == 0)
    let run = try step("Check", in: folder, "apps/one", ["STRICT": "true"])
    #expect(run.status == 1)
    #expect(run.output.contains("::warning file=apps/one/migrations/0002_drop.yaml,"))
  }

  @Test("the action's SARIF file contains no suppressed findings", .enabled(if: hasJQ))
  func actionSARIF() throws {
    let folder = try monorepo()
    #expect(try step("Check", in: folder, "apps/one", ["SARIF": "found.sarif"]).status == 0)
    let data = try Data(contentsOf: URL(fileURLWithPath: folder.path("found.sarif")))
    let log = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(SARIFShape.log.problems(of: log).isEmpty)
    let results = (log["runs"] as? [[String: Any]])?.first?["results"] as? [[String: Any]]
    let rules = results?.compactMap { $0["ruleId"] as? String } ?? []
    #expect(rules.contains("drop-column"))
    #expect(!rules.contains("drop-table"))
  }

  @Test("the action completes a shallow clone and compares the change with its base")
  func actionBase() throws {
    let origin = try WorkingFolder.of(["0001_notes": tableOfNotes])
    try origin.expect(0, "freeze", "--release", "1.0")
    let clone = try WorkingFolder()
    let git = "git -c user.name=Test -c user.email=test@example.invalid"
    let history = """
      git init --quiet --initial-branch=main . && git add . && \(git) commit --quiet -m one
      git checkout --quiet -b change
      echo 'operations: []' > migrations/0002_nothing.yaml && git add .
      \(git) commit --quiet -m two
      sed -i.old 's/release=1.0/release=2.0/' migrations/history.lock
      git add migrations/history.lock
      \(git) commit --quiet -m three
      """
    #expect(try bash(history, in: origin.path).status == 0)
    let cloning = "git clone --quiet --depth 1 --branch change file://\(origin.path) project"
    #expect(try bash(cloning, in: clone.path).status == 0)

    let request = ["GITHUB_BASE_REF": "main"]
    let fetch = try step(
      "Fetch the base of the change", in: clone, "project", request)
    #expect(fetch.status == 0, "\(fetch.errors)")
    let run = try step("Check", in: clone, "project", request)
    #expect(run.status == 2)
    #expect(
      run.output.hasPrefix("::error file=migrations/history.lock,line=1,title=history/lock::"))
    #expect(run.output.contains("the line of `0001_notes` differs from that in origin/main"))
    #expect(try step("Check", in: clone, "project").status == 0)
    #expect(try step("Check", in: clone, "project", ["BASE": "origin/nowhere"]).status == 66)
  }

  @Test("every input of the action is declared and used")
  func actionDeclaration() throws {
    let text = try String(
      contentsOf: repository.appendingPathComponent("action.yml"), encoding: .utf8)
    for input in ["base", "strict", "working-directory", "sarif"] {
      #expect(text.contains("\n  \(input):\n"), "\(input)")
      #expect(text.contains("${{ inputs.\(input) }}"), "\(input)")
    }
    // GitHub inserts inputs into scripts literally, so a script with an input could run any
    // command.
    for (name, script) in try Self.scripts() { #expect(!script.contains("${{"), "\(name)") }
  }

  // MARK: pre-commit

  @Test("the hook runs the command of its manifest and rejects removing a frozen migration")
  func preCommit() throws {
    let text = try String(
      contentsOf: repository.appendingPathComponent(".pre-commit-hooks.yaml"), encoding: .utf8)
    var hook: [String: String] = [:]
    for line in text.split(separator: "\n") where line != "---" && !line.hasPrefix("  #") {
      let parts = line.dropFirst(2).split(separator: ":", maxSplits: 1)
      hook[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    #expect(hook["id"] == "schemactl-check")
    #expect(hook["language"] == "system")
    #expect(hook["pass_filenames"] == "false")
    #expect(hook["always_run"] == "true")
    let entry = try #require(hook["entry"])

    let folder = try WorkingFolder.ofReminders()
    try folder.expect(0, "freeze", "--release", "1.0", "--to", "3")
    #expect(try bash(entry, in: folder.path).status == 0)
    try folder.remove("migrations/0003_refresh_updated_at.yaml")
    let run = try bash(entry, in: folder.path)
    #expect(run.status == 2)
    #expect(run.output.contains("[history/removed]"))
  }

  // MARK: SwiftPM

  @Test("the plugin passes its options to `schemactl check` in the folder of the package")
  func plugin() throws {
    let source = try String(
      contentsOf: repository.appendingPathComponent(
        "Plugins/SchemactlPlugin/SchemactlPlugin.swift"),
      encoding: .utf8)
    #expect(source.contains("context.tool(named: \"schemactl\")"))
    #expect(source.contains(".arguments = [\"check\"] + arguments"))
    #expect(source.contains(".currentDirectoryURL = context.package.directoryURL"))
  }
}

/// Runs a script with the built program on the path, like GitHub and most other CI systems.
func bash(
  _ script: String, in folder: String, _ environment: [String: String] = [:]
) throws -> Finished {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
  return try start(
    "/usr/bin/env", ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], in: folder,
    environment: ["PATH": "\(programs.path):\(path)"].merging(environment) { $1 }
  ).wait()
}

private let hasJQ = (try? bash("command -v jq", in: "/"))?.status == 0
