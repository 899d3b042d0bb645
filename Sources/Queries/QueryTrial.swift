import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The effect of a history on one query of the application.
package struct QueryVerdict: Sendable {
  package enum Kind: Sendable {
    /// The query does not compile after the migration, but did before it.
    case broken(message: String, lastRelease: String?)
    /// A name in double quotes was a column before the migration, and is a string after it.
    case nameBecameText(message: String)
    /// A name in double quotes was a string in every version.
    case holdsQuotedText(message: String)
    /// The query compiles on no version of the schema.
    case neverCompiled(message: String)
    /// The query returns other columns than at a release.
    case columnsChanged(
      from: [CompiledQuery.Column], to: [CompiledQuery.Column], release: String, isReleased: Bool)
    /// The query does not compile on the oldest supported release.
    case newer(than: String, understoodSince: String?)
  }

  package let query: ApplicationQuery
  package let kind: Kind
  /// The index of the migration that caused it; of the last one, if no migration did.
  package let migration: Int
  /// The position of the error in bytes of the query.
  package var offset: Int?

  package var isOfQueryAlone: Bool {
    switch kind {
    case .neverCompiled, .holdsQuotedText: true
    case .broken, .nameBecameText, .columnsChanged, .newer: false
    }
  }
}

/// Compiles the application's queries on the latest schema and on those of the releases during a
/// replay. If the results differ, also compiles them on the schemas between.
package struct QueryTrial {
  private let project: Project
  /// The supported releases, the oldest first.
  private let releases: [AppVersion]
  private let namesOldestRelease: Bool
  private var outcomes: [Outcome]
  /// Every statement of the files, and the suppressions that precede none.
  package let all: [ApplicationQuery]
  /// Suppressions that precede no statement.
  package var idle: [ApplicationQuery] { all.filter(\.sql.isEmpty) }

  /// The results for a query at the releases and at the end of the history.
  private struct Outcome {
    let query: ApplicationQuery
    var atReleases: [(release: AppVersion, compiled: CompiledQuery)] = []
    var atEnd: CompiledQuery?
  }

  package init(_ files: [QueryFile], _ project: Project, _ scope: LintScope) throws(Failure) {
    self.project = project
    releases = project.versions(replayed: project.migrations.count, oldest: scope.shipped)
      .filter(\.isRelease)
    namesOldestRelease = scope.namesOldestRelease
    var queries: [ApplicationQuery] = []
    for file in files { queries += try ApplicationQuery.all(in: file) }
    all = queries
    queries.removeAll(where: \.sql.isEmpty)
    outcomes = try reportingFailure(of: Self.subject) {
      try queries.harmless().map { Outcome(query: $0) }
    }
  }

  package var queries: [ApplicationQuery] { outcomes.map(\.query) }

  /// The failing action, for messages.
  private static let subject = "the check of the application's queries"

  /// Call it after each replayed migration, with the number of migrations so far.
  ///
  /// - Parameter connect: returns the connection that replayed them.
  package mutating func note(
    _ count: Int, on connection: Connection
  ) throws(Failure) {
    let isEnd = count == project.migrations.count
    let release = releases.first { $0.count == count }
    guard isEnd || release != nil else { return }
    for index in outcomes.indices {
      let compiled = try reportingFailure(of: Self.subject) {
        try connection.compile(outcomes[index].query)
      }
      if isEnd { outcomes[index].atEnd = compiled }
      if let release { outcomes[index].atReleases.append((release, compiled)) }
    }
  }

  /// - Parameter deltas: the schema changes of each migration.
  package func verdicts(_ deltas: [SchemaDelta]) throws(Failure) -> [QueryVerdict] {
    let suspects = outcomes.filter(isSuspect)
    guard !suspects.isEmpty else { return [] }
    return try reportingFailure(of: Self.subject) {
      let courses = try courses(of: suspects.map(\.query), deltas)
      return zip(suspects, courses).flatMap { verdicts($0, along: $1) }
    }
  }

  /// Whether there may be a finding. Older releases need not compile a query, since new releases
  /// add queries.
  private func isSuspect(_ outcome: Outcome) -> Bool {
    guard case .compiles(let columns)? = outcome.atEnd else { return outcome.atEnd != nil }
    return outcome.atReleases.contains { $0.compiled.columns.map { $0 != columns } ?? false }
      || namesOldestRelease && outcome.atReleases.first?.compiled.columns == nil
        && !outcome.atReleases.isEmpty
  }

  /// The results of each query after each migration. This second replay compiles only suspect
  /// queries, and only when an object changes that they mention.
  private func courses(
    of queries: [ApplicationQuery], _ deltas: [SchemaDelta]
  ) throws -> [[CompiledQuery]] {
    let mentions = Mentions(deltas)
    let names = queries.map(mentions.names)
    var courses: [[CompiledQuery]] = queries.map { _ in [] }
    func compile(_ step: ScratchDatabase.Step, on scratch: ScratchDatabase) throws(Failure) {
      for (number, query) in queries.enumerated() {
        let isSame = names[number].isDisjoint(with: mentions.touched[courses[number].count])
        if isSame, let known = courses[number].last {
          courses[number].append(known)
          continue
        }
        courses[number].append(
          try reportingFailure(of: Self.subject) { try scratch.connection.compile(query) })
      }
    }
    try project.replay(isForLint: true, observing: compile)
    return courses
  }

  // MARK: Judging

  /// - Parameter course: the results of the query after each migration.
  private func verdicts(_ outcome: Outcome, along course: [CompiledQuery]) -> [QueryVerdict] {
    func verdict(_ kind: QueryVerdict.Kind, at migration: Int, _ offset: Int? = nil) -> QueryVerdict
    {
      QueryVerdict(query: outcome.query, kind: kind, migration: migration, offset: offset)
    }
    let last = course.count - 1
    switch outcome.atEnd {
    case nil: return []
    case .refused(let message, let offset)?:
      guard let sound = course.lastIndex(where: { $0.columns != nil }) else {
        return [verdict(.neverCompiled(message: message), at: last, offset)]
      }
      let release = outcome.atReleases.last { $0.compiled.columns != nil }?.release.name
      return [verdict(.broken(message: message, lastRelease: release), at: sound + 1, offset)]
    case .readsNameAsString(_, let message, let offset)?:
      guard let sound = course.lastIndex(where: \.isSound) else {
        return [verdict(.holdsQuotedText(message: message), at: last, offset)]
      }
      return [verdict(.nameBecameText(message: message), at: sound + 1, offset)]
    case .compiles(let columns)?:
      return [changed(outcome, columns, course), newer(outcome, course)].compactMap { $0 }
        .map { verdict($0.kind, at: $0.migration) }
    }
  }

  private func changed(
    _ outcome: Outcome, _ columns: [CompiledQuery.Column], _ course: [CompiledQuery]
  ) -> (kind: QueryVerdict.Kind, migration: Int)? {
    let others = outcome.atReleases.last { $0.compiled.columns.map { $0 != columns } ?? false }
    guard let others, let before = others.compiled.columns,
      let index = course.lastIndex(where: { $0.columns != nil && $0.columns != columns })
    else { return nil }
    let isReleased = project.isFrozen(project.migrations[index + 1])
    return (
      .columnsChanged(
        from: before, to: columns, release: others.release.name, isReleased: isReleased),
      index + 1
    )
  }

  private func newer(
    _ outcome: Outcome, _ course: [CompiledQuery]
  ) -> (kind: QueryVerdict.Kind, migration: Int)? {
    guard namesOldestRelease, let oldest = outcome.atReleases.first, oldest.compiled.columns == nil,
      let index = course.lastIndex(where: { $0.columns == nil })
    else { return nil }
    let since = releases.first { $0.count > index + 1 }
    return (.newer(than: oldest.release.name, understoodSince: since?.name), index + 1)
  }
}
