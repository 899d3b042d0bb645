// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target: upcoming features, and warnings as errors.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// The small modules in which tests spend most of their time. CI optimizes them.
let optimized =
  Context.environment["SCHEMACTL_OPTIMIZED"] == nil
  ? [] : ["SchemaPlatform", "SchemaSQLite", "SchemaSQLText", "SchemaModel"]

/// The modules of the design (see `docs/design.md`), in order. Each may import only modules above it.
let engine = [
  "Platform", "SQLite", "SQLText", "Model", "Manifest", "Planning", "History", "Replay", "Copies",
  "Apply", "Inspect", "YAML", "Git", "Preview", "Timeline", "Trials", "Devices", "Queries", "Lint",
  "Authoring", "Import", "Diagram", "Report", "Fleet", "Remote",
].map { "Schema\($0)" }

/// Declares a module. Its folder has the same name without `Schema`.
func module(_ name: String, _ dependencies: [String] = [], _ settings: [SwiftSetting] = [])
  -> Target
{
  .target(
    name: name, dependencies: dependencies.map { .byName(name: $0) },
    path: "Sources/\(name.dropFirst("Schema".count))",
    swiftSettings: strict + settings + (optimized.contains(name) ? [.unsafeFlags(["-O"])] : []))
}

/// Returns the modules above a module of the engine.
func above(_ name: String) -> [String] { Array(engine.prefix { $0 != name }) }

func tests(_ name: String, _ dependencies: [String], exclude: [String] = []) -> Target {
  .testTarget(
    name: "\(name.hasPrefix("Schema") ? "" : "Schema")\(name)Tests",
    dependencies: dependencies.map { .byName(name: $0) },
    path: "Tests/\(name)Tests", exclude: exclude, swiftSettings: strict)
}

/// Declares a module that tests share.
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
    // It needs neither YAML nor git nor lint.
    module("SchemaFleet", above("SchemaYAML")),
    module("SchemaRemote", above("SchemaYAML") + ["SchemaPreview"]),
    .target(
      name: "SchemaKit", dependencies: above("SchemaYAML").map { .byName(name: $0) },
      swiftSettings: strict),
    // For tools that read a folder of manifests.
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
    // These tests start the executable `schemactl`, which the build puts beside them. They do not depend on
    // its modules, so they need not wait for them.
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
    // Helpers that run programs in temporary folders. Tests that need only these compile at the same time as
    // the engine.
    support("TestPrograms", ["SchemaSQLite"]),
    // Helpers for databases and histories in temporary folders.
    support("TestSupport", above("SchemaTimeline") + ["SchemaAuthoring", "SchemaTestPrograms"]),
    // The functions that `make fuzz` feeds with input. A test runs them over the stored corpora.
    .target(
      name: "SchemaFuzzing", dependencies: above("SchemaTimeline").map { .byName(name: $0) },
      path: "Tests/Fuzzing", exclude: ["Corpora"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// `make test-all`, `make torture`, `make benchmark` and `make check` build these targets. Other builds skip
// them.
if Context.environment["SCHEMACTL_TEST_ALL"] != nil {
  package.targets += [
    // A file system for SQLite that records every call and can make it fail.
    support("FaultyFileSystem", ["SchemaCSQLite"]),
    .target(
      name: "SchemaFaultyAllocator", dependencies: ["SchemaCSQLite"],
      path: "Tests/FaultyAllocator"),
    // A program and not a test, because its faults affect the whole process: it replaces the file system and
    // the allocator, and it sends signals and kills.
    .executableTarget(
      name: "SchemaTorture",
      dependencies: (engine + [
        "SchemaCSQLite", "SchemaFaultyAllocator", "SchemaFaultyFileSystem",
      ] + testSupport).map { .byName(name: $0) },
      path: "Tests/Torture", swiftSettings: strict),
    // Measures the release build from outside, as a separate process.
    .executableTarget(name: "SchemaBenchmark", path: "Benchmarks", swiftSettings: strict),
    tests("Torture", ["SchemaTorture", "schemactl"] + testSupport + engine),
  ]
}

// `make fuzz`. Swift on Linux includes libFuzzer, which needs instrumented code.
if Context.environment["SCHEMACTL_FUZZING"] != nil {
  package.targets.append(
    .executableTarget(
      name: "SchemaFuzzer", dependencies: ["SchemaFuzzing"], path: "Tests/Fuzzer",
      swiftSettings: strict))
}

// SwiftPM compiles the command of a plugin separately for the build machine, which doubles the time of a
// build. `make test` needs no plugin.
if Context.environment["SCHEMACTL_NO_PLUGINS"] != nil {
  package.targets.removeAll { $0.type == .plugin }
  package.products.removeAll { $0 is Product.Plugin }
}
