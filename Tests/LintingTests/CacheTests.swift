import Foundation
import Linting
import Migrating
import TestSupport
import Testing

@Suite("Lint with a cache of replays")
struct CacheTests {
  @Test(
    "finds in the examples of a rule what it finds without one, whether the last is frozen or not",
    arguments: Rule.all)
  func examples(_ rule: Rule) throws {
    for example in [rule.bad, rule.good] {
      let frozen =
        example.releases.isEmpty
        ? [example.manifests.count - 1, example.manifests.count].map { ["1.0": $0] }
        : [example.releases]
      for releases in frozen {
        try expectTheSame(releases) { before, releases, cache in
          try lint(
            before + example.manifests, example.profile, configuration: example.configuration,
            releases: releases, baseline: example.baseline, queries: example.queries, cache: cache)
        }
      }
    }
  }

  @Test("says what it says without one of a history that fails behind what is frozen")
  func failure() throws {
    let manifests = [sql("CREATE TABLE a (b)"), sql("INSERT INTO a (c) VALUES (missing())")]
    try expectTheSame(["1.0": 1]) { before, releases, cache in
      try lint(before + manifests, releases: releases, cache: cache)
    }
  }

  @Test("knows of the functions that are made up for what is frozen")
  func missing() throws {
    let manifests = ["CREATE TABLE a (b)", "SELECT missing()", "INSERT INTO a VALUES (missing())"]
    try expectTheSame(["1.0": 2]) { before, releases, cache in
      try lint(before + manifests.map(sql), releases: releases, cache: cache)
    }
  }

  @Test("has rows where they were at the end of what is frozen, and takes them on from there")
  func rows() throws {
    let manifests = [
      "CREATE TABLE a (b INTEGER, c TEXT); CREATE TABLE d (e INTEGER)",
      "UPDATE a SET b = 5",
      "CREATE TABLE f (g INTEGER)",
      "UPDATE d SET e = 1",
      "CREATE TABLE h (i CHECK (i <> 5)); INSERT INTO h SELECT b FROM a",
      "CREATE TABLE j (k CHECK (k <> 1)); INSERT INTO j SELECT e FROM d",
    ].map(sql)
    let sandbox = try Sandbox(isInMemory: true)
    let cache = ReplayCache(folder: sandbox.folder + "/cache", build: "")
    let before = Array(repeating: "operations: []\n", count: ReplayCache.fewestMigrations)
    for (count, frozen) in [
      (3, 3), (3, 3), (4, 3), (4, 3), (5, 3), (6, 3), (6, 3), (6, 4), (6, 5), (6, 5), (6, 6),
      (6, 6),
    ] {
      func findings(_ cache: ReplayCache?) throws -> [Finding] {
        try lint(
          before + manifests.prefix(count), .local, releases: ["1.0": before.count + frozen],
          cache: cache
        ).findings
      }
      let without = try findings(nil)
      #expect(try findings(cache) == without, "\(count), \(frozen)")
      #expect(without.count { $0.rule == "fails-on-rows" } == max(0, count - 4))
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: sandbox.folder + "/cache").count == 2)
  }

  /// - Parameters:
  ///   - releases: how many of the manifests each has.
  ///   - lint: is given manifests to come before them, that make the history long.
  private func expectTheSame(
    _ releases: [String: Int], lint: ([String], [String: Int], ReplayCache?) throws -> LintReport
  ) throws {
    let sandbox = try Sandbox(isInMemory: true)
    let count = ReplayCache.fewestMigrations
    func findings(_ cache: ReplayCache?) throws -> String {
      let report = try lint(
        Array(repeating: "operations: []\n", count: count), releases.mapValues { count + $0 },
        cache)
      return "\(report.findings)\n\(report.failure.map { "\($0)" } ?? "")"
    }
    let cache = ReplayCache(folder: sandbox.folder + "/cache", build: "")
    let without = try findings(nil)
    #expect(try findings(cache) == without)
    #expect(try findings(cache) == without, "\(releases)")
  }
}
