import Foundation
import Linting
import Migrating
import TestSupport
import Testing

@Suite("Lint with a cache of replays")
struct CacheTests {
  @Test(
    "finds in the examples of a rule what it finds without one, whichever of them are frozen",
    arguments: Rule.all)
  func examples(_ rule: Rule) throws {
    for example in [rule.bad, rule.good] {
      let frozen =
        example.releases.isEmpty
        ? (0...example.manifests.count).map { ["1.0": $0] } : [example.releases]
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
