// swift-tools-version: 6.2
import PackageDescription

/// Every target holds itself to the same rules: Swift 6 mode, and a warning is an error.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// A room of the design (see `docs/design.md`): it may import only rooms above it in the list below.
func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: strict)
}

/// `make check` forbids sets and dictionaries of strings, which compare by canonical equivalence.
let text: [SwiftSetting] =
  Context.environment["SCHEMACTL_FORBID_STRING_SETS"] == nil
  ? [] : [.define("FORBIDS_STRING_SETS")]

let package = Package(
  name: "schemactl",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "schemactl", targets: ["schemactl"]),
    .library(name: "SchemaKit", targets: ["SchemaKit"]),
    .plugin(name: "SchemactlPlugin", targets: ["SchemactlPlugin"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .systemLibrary(
      name: "CYAML", pkgConfig: "yaml-0.1",
      providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
    room("SQLite", ["CSQLite"]),
    .target(name: "SQLText", swiftSettings: strict + text),
    room("SchemaModel", ["SQLite", "SQLText"]),
    room("ManifestFormat", ["CYAML", "SQLText"]),
    room("Planning", ["SQLite", "SQLText", "SchemaModel", "ManifestFormat"]),
    room("History", ["SQLite", "SQLText", "SchemaModel", "ManifestFormat"]),
    room(
      "Migrating",
      ["SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History"]),
    room(
      "Linting",
      ["SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History", "Migrating"]),
    room(
      "SchemaKit",
      [
        "SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History", "Migrating",
        "Linting",
      ]),
    room("CommandLineParsing"),
    .executableTarget(
      name: "schemactl",
      dependencies: [
        "SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History", "Migrating",
        "Linting", "SchemaKit", "CommandLineParsing",
      ],
      swiftSettings: strict),
    .plugin(
      name: "SchemactlPlugin",
      capability: .command(
        intent: .custom(
          verb: "schemactl-check", description: "Checks the migrations, as before every merge.")),
      dependencies: ["schemactl"]),
    tests(of: "SQLite"),
    tests(of: "SQLText"),
    tests(of: "SchemaModel", ["SQLite", "SQLText", "TestSupport"]),
    tests(of: "ManifestFormat", ["SQLText", "JSONSchemaChecking"]),
    .target(
      name: "JSONSchemaChecking", path: "Tests/JSONSchemaChecking", swiftSettings: strict),
    tests(of: "CommandLineParsing"),
    tests(
      of: "Migrating",
      [
        "SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History",
        "TestSupport", "schemactl",
      ]),
    // What tests share: databases, histories and processes in temporary folders.
    .target(
      name: "TestSupport",
      dependencies: [
        "SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History", "Migrating",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),
    // SQLite's view of the disk, where every call can be seen and be made to fail.
    .target(
      name: "FaultyFileSystem", dependencies: ["CSQLite"], path: "Tests/FaultyFileSystem",
      swiftSettings: strict),
    // A program, because faults are made for a whole process: a file system and an allocator of its
    // own, signals, kills.
    .executableTarget(
      name: "Torture",
      dependencies: [
        "CSQLite", "SQLite", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History",
        "Migrating", "Linting", "TestSupport", "FaultyAllocator", "FaultyFileSystem",
      ],
      path: "Tests/Torture", swiftSettings: strict),
    // Measures the release file from outside, as a process beside others.
    .executableTarget(name: "Benchmark", path: "Benchmarks", swiftSettings: strict),
    .target(
      name: "FaultyAllocator", dependencies: ["CSQLite"], path: "Tests/FaultyAllocator"),
    .testTarget(
      name: "TortureTests", dependencies: ["Torture", "TestSupport", "Planning", "schemactl"],
      swiftSettings: strict),
    // What `make fuzz` feeds, and a test runs over its corpora.
    .target(
      name: "Fuzzing",
      dependencies: ["SQLite", "SQLText", "SchemaModel", "ManifestFormat", "History", "Migrating"],
      path: "Tests/Fuzzing", exclude: ["Corpora"], swiftSettings: strict),
    tests(of: "Fuzzing"),
    tests(of: "History", ["SQLite", "SQLText", "SchemaModel", "ManifestFormat"]),
    .testTarget(
      name: "SchemactlTests",
      dependencies: [
        "schemactl", "SQLite", "SQLText", "Planning", "History", "Linting", "SchemaKit",
        "CommandLineParsing",
        "JSONSchemaChecking", "TestSupport",
      ],
      exclude: ["Golden"], swiftSettings: strict),
    .testTarget(
      name: "LintingTests",
      dependencies: [
        "Linting", "SQLText", "SchemaModel", "ManifestFormat", "Planning", "History", "Migrating",
      ],
      exclude: ["Golden"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// libFuzzer comes with Swift on Linux, and only instrumented code is of use to it: `make fuzz`.
if Context.environment["SCHEMACTL_FUZZING"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzzer", dependencies: ["Fuzzing"], path: "Tests/Fuzzer", swiftSettings: strict))
}
