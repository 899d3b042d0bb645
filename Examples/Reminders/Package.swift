// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Reminders",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "Reminders", targets: ["Reminders"])],
  dependencies: [.package(name: "schemactl", path: "../..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "Reminders",
      dependencies: ["CSQLite", .product(name: "SchemaKit", package: "schemactl")],
      plugins: [.plugin(name: "SchemaBundlePlugin", package: "schemactl")]),
    .testTarget(name: "RemindersTests", dependencies: ["Reminders"]),
  ],
  swiftLanguageModes: [.v6]
)
