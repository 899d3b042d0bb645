import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The effect of a history on one query of the application.
package struct QueryVerdict: Sendable {
  package enum Kind: Sendable {
    /// The query compiled before the migration and does not compile after it.
    case broken(message: String, lastRelease: String?)
    /// A name in double quotes was a column before the migration, and is a string after it.
    case nameBecameText(message: String)
    /// A name in double quotes was a string in every version.
    case holdsQuotedText(message: String)
    /// The query compiles on no version of the schema.
    case neverCompiled(message: String)
    /// The result columns of the query differ from the columns at a release.
    case columnsChanged(
      from: [CompiledQuery.Column], to: [CompiledQuery.Column], release: String, isReleased: Bool)
  }

  package let query: ApplicationQuery
  package let kind: Kind
  /// The index of the migration that caused the effect, or of the last migration if none caused it.
  package let migration: Int
  /// The position of the error in bytes of the query.
  package var offset: Int?

  package var isOfQueryAlone: Bool {
    switch kind {
    case .neverCompiled, .holdsQuotedText: true
    case .broken, .nameBecameText, .columnsChanged: false
    }
  }
}

/// Compiles the application's queries during a replay. Compiles each query again after every
/// migration that may change its result.
package struct QueryTrial {
  private let project: Project
  /// The supported releases, the oldest first.
  private let releases: [AppVersion]
  /// Every statement of the files. For each file with suppressions that precede no statement, also
  /// an element with these suppressions and without SQL.
  package let all: [ApplicationQuery]
  /// The statements that the trial compiles: all except PRAGMAs.
  package let queries: [ApplicationQuery]
  private var mentions: Mentions
  /// The number of replayed migrations.
  private var count = 0
  /// The results of each query, each with the index of the migration after which it was compiled.
  private var courses: [[(migration: Int, compiled: CompiledQuery)]]

  package init(_ files: [QueryFile], _ project: Project, _ scope: LintScope) throws(Failure) {
    self.project = project
    releases = project.versions(replayed: project.migrations.count, oldest: scope.shipped)
      .filter(\.isRelease)
    var all: [ApplicationQuery] = []
    for file in files { all += try ApplicationQuery.all(in: file) }
    self.all = all
    queries = all.filter { !$0.sql.isEmpty && !$0.isPragma }
    mentions = Mentions(queries)
    courses = queries.map { _ in [] }
  }

  /// Compiles the affected queries. Call it after each replayed migration.
  package mutating func note(
    _ delta: SchemaDelta, on connection: Connection
  ) throws(Failure) {
    let affected = mentions.affected(by: delta)
    count += 1
    let isEnd = count == project.migrations.count
    for (index, query) in queries.enumerated()
    where isEnd || courses[index].isEmpty || affected.contains(index) {
      let compiled = try reportingFailure(of: "the check of the application's queries") {
        try connection.compile(query)
      }
      courses[index].append((count - 1, compiled))
    }
  }

  /// The effects of the whole history.
  package var verdicts: [QueryVerdict] {
    zip(queries, courses).flatMap { verdicts($0, $1) }
  }

  private func verdicts(
    _ query: ApplicationQuery, _ course: [(migration: Int, compiled: CompiledQuery)]
  ) -> [QueryVerdict] {
    guard let last = course.last else { return [] }
    func verdict(_ kind: QueryVerdict.Kind, at migration: Int, _ offset: Int? = nil) -> QueryVerdict
    {
      QueryVerdict(query: query, kind: kind, migration: migration, offset: offset)
    }
    /// The migration of the first result after the last one for which `holds` is true.
    func end(of holds: (CompiledQuery) -> Bool) -> Int? {
      Array(zip(course, course.dropFirst())).last { holds($0.0.compiled) }?.1.migration
    }
    let atReleases = releases.compactMap { release in
      course.last { $0.migration < release.count }.map { (release: release, compiled: $0.compiled) }
    }
    switch last.compiled {
    case .refused(let message, let offset):
      guard let migration = end(of: { $0.columns != nil }) else {
        return [verdict(.neverCompiled(message: message), at: last.migration, offset)]
      }
      let release = atReleases.last { $0.compiled.columns != nil }?.release.name
      return [verdict(.broken(message: message, lastRelease: release), at: migration, offset)]
    case .readsNameAsString(_, let message, let offset):
      guard let migration = end(of: \.isSound) else {
        return [verdict(.holdsQuotedText(message: message), at: last.migration, offset)]
      }
      return [verdict(.nameBecameText(message: message), at: migration, offset)]
    case .compiles(let columns):
      func differs(_ compiled: CompiledQuery) -> Bool {
        compiled.columns.map { $0 != columns } ?? false
      }
      guard let other = atReleases.last(where: { differs($0.compiled) }),
        let before = other.compiled.columns, let migration = end(of: differs)
      else { return [] }
      let isReleased = project.isFrozen(project.migrations[migration])
      return [
        verdict(
          .columnsChanged(
            from: before, to: columns, release: other.release.name, isReleased: isReleased),
          at: migration)
      ]
    }
  }
}
