// swift-tools-version: 6.2
import PackageDescription

/// Every target holds itself to the same rules: Swift 6 mode, and a warning is an error.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// CI optimizes the small modules in which tests spend most of their time.
let optimized =
  Context.environment["SCHEMACTL_OPTIMIZED"] == nil
  ? [] : ["SchemaPlatform", "SchemaSQLite", "SchemaSQLText", "SchemaModel"]

/// The modules of the design (see `docs/design.md`), in order: each may import only those above it.
let engine = [
  "Platform", "SQLite", "SQLText", "Model", "Manifest", "Planning", "History", "Replay", "Copies",
  "Apply", "Inspect", "YAML", "Git", "Preview", "Timeline", "Trials", "Devices", "Queries", "Lint",
  "Authoring", "Import", "Diagram", "Report", "Fleet", "Remote",
].map { "Schema\($0)" }

/// A module in the folder that has its name without `Schema`.
func module(_ name: String, _ dependencies: [String] = [], _ settings: [SwiftSetting] = [])
  -> Target
{
  .target(
    name: name, dependencies: dependencies.map { .byName(name: $0) },
    path: "Sources/\(name.dropFirst("Schema".count))",
    swiftSettings: strict + settings + (optimized.contains(name) ? [.unsafeFlags(["-O"])] : []))
}

/// The modules above one of the engine.
func above(_ name: String) -> [String] { Array(engine.prefix { $0 != name }) }

func tests(_ name: String, _ dependencies: [String], exclude: [String] = []) -> Target {
  .testTarget(
    name: "\(name.hasPrefix("Schema") ? "" : "Schema")\(name)Tests",
    dependencies: dependencies.map { .byName(name: $0) },
    path: "Tests/\(name)Tests", exclude: exclude, swiftSettings: strict)
}

/// What tests share, or a program that tests start.
func support(_ name: String, _ dependencies: [String]) -> Target {
  .target(
    name: "Schema\(name)", dependencies: dependencies.map { .byName(name: $0) },
    path: "Tests/\(name)", swiftSettings: strict)
}

/// `make check` forbids sets and dictionaries of strings, which compare by canonical equivalence.
let text: [SwiftSetting] =
  Context.environment["SCHEMACTL_FORBID_STRING_SETS"] == nil
  ? [] : [.define("FORBIDS_STRING_SETS")]

let testSupport = ["SchemaTestPrograms", "SchemaTestSupport"]

let package = Package(
  name: "schemactl",
  platforms: [.macOS(.v12), .iOS(.v15)],
  products: [
    .executable(name: "schemactl", targets: ["schemactl"]),
    .library(name: "SchemaKit", targets: ["SchemaKit"]),
    .library(name: "SchemaKitYAML", targets: ["SchemaKitYAML"]),
    .plugin(name: "SchemactlPlugin", targets: ["SchemactlPlugin"]),
    .plugin(name: "SchemaBundlePlugin", targets: ["SchemaBundlePlugin"]),
  ],
  targets: [
    .systemLibrary(
      name: "SchemaCSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .systemLibrary(
      name: "SchemaCYAML", path: "Sources/CYAML", pkgConfig: "yaml-0.1",
      providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
    module("SchemaPlatform"),
    module("SchemaSQLite", ["SchemaCSQLite", "SchemaPlatform"]),
    module("SchemaSQLText", ["SchemaPlatform", "SchemaSQLite"], text),
    module("SchemaModel", ["SchemaSQLText", "SchemaSQLite"]),
    module("SchemaManifest", above("SchemaManifest")),
    module("SchemaPlanning", above("SchemaPlanning")),
    module("SchemaHistory", above("SchemaHistory")),
    module("SchemaReplay", above("SchemaReplay")),
    module("SchemaCopies", above("SchemaCopies")),
    module("SchemaApply", above("SchemaApply")),
    module("SchemaInspect", above("SchemaInspect")),
    module(
      "SchemaYAML",
      [
        "SchemaCYAML", "SchemaManifest", "SchemaModel", "SchemaPlanning", "SchemaHistory",
        "SchemaReplay", "SchemaPlatform", "SchemaSQLText", "SchemaSQLite",
      ]),
    module("SchemaGit", above("SchemaGit")),
    module("SchemaPreview", above("SchemaYAML")),
    module("SchemaTimeline", above("SchemaTimeline")),
    module("SchemaTrials", above("SchemaTrials")),
    module("SchemaDevices", above("SchemaDevices")),
    module("SchemaQueries", above("SchemaQueries")),
    module("SchemaLint", above("SchemaLint")),
    module("SchemaAuthoring", above("SchemaTimeline")),
    module("SchemaImport", above("SchemaTimeline") + ["SchemaAuthoring"]),
    module("SchemaDiagram", above("SchemaReplay")),
    module("SchemaReport", above("SchemaReport")),
    // It needs no YAML, git or lint.
    module("SchemaFleet", above("SchemaYAML")),
    module("SchemaRemote", above("SchemaYAML") + ["SchemaPreview"]),
    .target(
      name: "SchemaKit", dependencies: above("SchemaYAML").map { .byName(name: $0) },
      swiftSettings: strict),
    // For tools: it reads a folder of manifests.
    .target(
      name: "SchemaKitYAML",
      dependencies: (["SchemaKit"] + above("SchemaGit")).map { .byName(name: $0) },
      swiftSettings: strict),
    module("SchemaCommandLine", ["SchemaSQLText"]),
    .executableTarget(
      name: "schemactl",
      dependencies: (engine + ["SchemaCommandLine"]).map { .byName(name: $0) },
      swiftSettings: strict),
    .plugin(
      name: "SchemactlPlugin",
      capability: .command(
        intent: .custom(
          verb: "schemactl-check", description: "Checks the migrations, as before every merge.")),
      dependencies: ["schemactl"]),
    .plugin(
      name: "SchemaBundlePlugin", capability: .buildTool(), dependencies: ["schemactl"]),
    tests("SQLite", ["SchemaPlatform", "SchemaSQLite", "SchemaTestPrograms"]),
    tests("SQLText", ["SchemaSQLText"]),
    tests("Model", above("SchemaManifest") + testSupport),
    tests("Manifest", above("SchemaTimeline") + ["SchemaJSONChecking"] + testSupport),
    tests("History", above("SchemaTimeline") + ["SchemaAuthoring"] + testSupport),
    tests(
      "Engine", above("SchemaTimeline") + ["SchemaAuthoring", "SchemaCommandLine"] + testSupport),
    tests("Lint", above("SchemaAuthoring") + testSupport, exclude: ["Golden"]),
    tests("Fleet", engine + ["SchemaJSONChecking", "schemactl"] + testSupport),
    tests("Import", ["SchemaTestPrograms"]),
    tests(
      "CommandLine",
      engine + ["SchemaCommandLine", "SchemaJSONChecking", "SchemaTestPrograms", "schemactl"],
      exclude: ["Golden"]),
    tests(
      "SchemaKit",
      above("SchemaTimeline") + ["SchemaAuthoring", "SchemaCSQLite", "SchemaKitYAML"] + testSupport),
    // They start schemactl, which the build puts beside them, and need not wait for its modules.
    tests(
      "Schemactl",
      [
        "SchemaPlatform", "SchemaSQLite", "SchemaSQLText", "SchemaJSONChecking",
        "SchemaTestPrograms",
      ], exclude: ["Golden"]),
    tests("Report", above("SchemaFleet") + testSupport),
    tests("Fuzzing", ["SchemaFuzzing"]),
    tests(
      "Remote", above("SchemaTimeline") + ["SchemaRemote", "SchemaAuthoring"] + testSupport,
      exclude: ["Node"]),
    support("JSONChecking", []),
    // Programs in temporary folders: their tests are compiled beside the engine.
    support("TestPrograms", ["SchemaSQLite"]),
    // Databases and histories in temporary folders.
    support("TestSupport", above("SchemaTimeline") + ["SchemaAuthoring", "SchemaTestPrograms"]),
    // What `make fuzz` feeds, and a test runs over its corpora.
    .target(
      name: "SchemaFuzzing", dependencies: above("SchemaTimeline").map { .byName(name: $0) },
      path: "Tests/Fuzzing", exclude: ["Corpora"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// `make test-all`, `make torture`, `make benchmark` and `make check` build these; the others need not wait for them.
if Context.environment["SCHEMACTL_TEST_ALL"] != nil {
  package.targets += [
    // SQLite's view of the disk, where every call can be seen and be made to fail.
    support("FaultyFileSystem", ["SchemaCSQLite"]),
    .target(
      name: "SchemaFaultyAllocator", dependencies: ["SchemaCSQLite"],
      path: "Tests/FaultyAllocator"),
    // A program, because faults are made for a whole process: a file system and an allocator of its
    // own, signals, kills.
    .executableTarget(
      name: "SchemaTorture",
      dependencies: (engine + [
        "SchemaCSQLite", "SchemaFaultyAllocator", "SchemaFaultyFileSystem",
      ] + testSupport).map { .byName(name: $0) },
      path: "Tests/Torture", swiftSettings: strict),
    // Measures the release file from outside, as a process beside others.
    .executableTarget(name: "SchemaBenchmark", path: "Benchmarks", swiftSettings: strict),
    tests("Torture", ["SchemaTorture", "schemactl"] + testSupport + engine),
  ]
}

// libFuzzer comes with Swift on Linux, and only instrumented code is of use to it: `make fuzz`.
if Context.environment["SCHEMACTL_FUZZING"] != nil {
  package.targets.append(
    .executableTarget(
      name: "SchemaFuzzer", dependencies: ["SchemaFuzzing"], path: "Tests/Fuzzer",
      swiftSettings: strict))
}

// The command that a plugin runs is compiled for the build machine apart, which doubles a build. `make test`
// needs no plugin.
if Context.environment["SCHEMACTL_NO_PLUGINS"] != nil {
  package.targets.removeAll { $0.type == .plugin }
  package.products.removeAll { $0 is Product.Plugin }
}
