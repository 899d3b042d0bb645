import Foundation
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("schemactl diagram")
struct DiagramCommandTests {
  @Test("it draws the latest schema, a migration, a release, a database and a file of SQL")
  func sources() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (id INTEGER PRIMARY KEY)")
    try sandbox.addSQL("0002_b", "CREATE TABLE b (id INTEGER PRIMARY KEY)")
    try sandbox.addSQL("0003_c", "CREATE TABLE c (id INTEGER PRIMARY KEY)")
    try sandbox.freeze(release: "1.0", through: "0002")
    try sandbox.migrate(to: "0001")
    try "CREATE TABLE d (id)".write(
      toFile: sandbox.folder + "/s.sql", atomically: true, encoding: .utf8)
    #expect(try entities(sandbox) == ["a", "b", "c"])
    #expect(try entities(sandbox, "--to", "1") == ["a"])
    #expect(try entities(sandbox, "--release", "1.0") == ["a", "b"])
    #expect(try entities(sandbox, "--database", "live.sqlite") == ["a"])
    #expect(try entities(sandbox, "--file", "s.sql") == ["d"])
    #expect(try entities(sandbox, "--tables", "[bc]") == ["b", "c"])
    for point in ["1.0", "0002_b", "live.sqlite", "s.sql", "migrations"] {
      let run = try diagram(sandbox, "--changed-since", point)
      #expect(run.code == 0, "\(point): \(run.errors)")
    }
    #expect(try entities(sandbox, "--changed-since", "1.0", "--neighbours", "0") == ["c"])
    let useless = try diagram(sandbox, "--neighbours", "1")
    #expect(useless.code == 64 && useless.errors.contains("--changed-since"))
  }

  @Test("an unknown name is an error that lists the releases")
  func missing() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (id INTEGER PRIMARY KEY)")
    try sandbox.freeze(release: "1.0")
    for option in ["--release", "--changed-since"] {
      let run = try diagram(sandbox, option, "9.9")
      #expect(run.code == 66)
      #expect(run.errors.contains("9.9") && run.errors.contains("1.0"))
    }
    #expect(try diagram(sandbox, "--tables", "x*").code == 66)
    #expect(try diagram(sandbox, "--release", "1.0", "--file", "s.sql").code == 64)
  }

  @Test("without Graphviz it reports that and prints Mermaid")
  func withoutGraphviz() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (id INTEGER PRIMARY KEY)")
    let run = try start(
      "schemactl", ["diagram", "--format", "svg"], in: sandbox.folder,
      environment: ["PATH": "/nowhere"]
    ).wait()
    #expect(run.code == 66)
    #expect(try MermaidReading(run.output).entities.count == 1)
    #expect(run.errors.contains("Graphviz"))
  }

  @Test("with Graphviz it prints SVG", .enabled(if: isGraphvizInstalled))
  func svg() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (id INTEGER PRIMARY KEY)")
    let run = try diagram(sandbox, "--format", "svg")
    #expect(run.code == 0)
    #expect(run.output.hasPrefix("<svg"))
  }

  @Test("a missing database or file is named", arguments: ["--database", "--file"])
  func missing(option: String) throws {
    let sandbox = try Sandbox()
    let run = try start("schemactl", ["diagram", option, "gone"], in: sandbox.folder).wait()
    #expect(run.code == 66)
    #expect(run.errors.contains("gone"))
  }

  private func entities(_ sandbox: Sandbox, _ options: String...) throws -> [String] {
    let run = try start("schemactl", ["diagram"] + options, in: sandbox.folder).wait()
    try #require(run.code == 0, "\(options): \(run.errors)")
    return try MermaidReading(run.output).entities.keys.sorted()
  }

  private func diagram(_ sandbox: Sandbox, _ options: String...) throws -> Finished {
    try start("schemactl", ["diagram"] + options, in: sandbox.folder).wait()
  }
}
