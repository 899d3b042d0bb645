import History
import Migrating
import Planning
import SQLite
import SchemaModel

/// What a history does to one query of the application.
struct QueryVerdict: Sendable {
  enum Kind: Sendable {
    /// It does not compile now, and did before the migration.
    case broken(message: String, lastRelease: String?)
    /// A name in double quotes was a column before the migration, and is a text now.
    case nameBecameText(message: String)
    /// A name in double quotes was never anything but a text.
    case holdsQuotedText(message: String)
    /// It compiles at no point of the history.
    case neverCompiled(message: String)
    /// Its result has other columns than it had at a release.
    case columnsChanged(
      from: [CompiledQuery.Column], to: [CompiledQuery.Column], release: String, isReleased: Bool)
    /// The oldest release that still runs does not understand it.
    case newer(than: String, understoodSince: String?)
  }

  let query: ApplicationQuery
  let kind: Kind
  /// The index of the migration that does it.
  let migration: Int
  /// Where SQLite stopped reading, in bytes of the query.
  var offset: Int?
}

/// Compiles the application's queries on the schema that the history leads to and on those of its
/// releases; where that differs, on every schema between.
struct QueryTrial {
  private let project: Project
  private let deltas: [SchemaDelta]
  /// Those that still run, the oldest first.
  private let releases: [AppVersion]
  private let namesOldestRelease: Bool

  init(_ project: Project, _ deltas: [SchemaDelta], _ scope: LintScope) {
    self.project = project
    self.deltas = deltas
    releases = project.versions(replayed: deltas.count, oldest: scope.shipped)
      .filter(\.isRelease)
    namesOldestRelease = scope.namesOldestRelease
  }

  static func verdicts(
    on files: [QueryFile], _ project: Project, _ deltas: [SchemaDelta], _ scope: LintScope
  ) throws(Failure) -> [QueryVerdict] {
    let queries = files.flatMap(ApplicationQuery.all)
    guard !queries.isEmpty, !deltas.isEmpty else { return [] }
    let trial = QueryTrial(project, deltas, scope)
    do {
      let suspects = try trial.outcomes(of: queries).filter { !$0.isSame }
      return suspects.isEmpty ? [] : try trial.verdicts(on: suspects)
    } catch let failure as Failure {
      throw failure
    } catch let error as DatabaseError {
      throw Failure(
        error.status, "the application's queries cannot be looked at: \(error.message)")
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }

  /// What is known of a query at the releases and at the end of the history.
  private struct Outcome {
    let query: ApplicationQuery
    var atReleases: [(release: AppVersion, compiled: CompiledQuery)] = []
    let atEnd: CompiledQuery

    var isSame: Bool {
      atEnd.isSound
        && atReleases.allSatisfy { $0.compiled.isSound && $0.compiled.columns == atEnd.columns }
    }
  }

  private func outcomes(of queries: [ApplicationQuery]) throws(DatabaseError) -> [Outcome] {
    let end = try connection(after: deltas.count)
    end.refusePragmas()
    var outcomes: [Outcome] = []
    for query in queries {
      guard let compiled = try end.compile(query) else { continue }
      outcomes.append(Outcome(query: query, atEnd: compiled))
    }
    for release in releases where release.count < deltas.count {
      let connection = try connection(after: release.count)
      for index in outcomes.indices {
        guard let compiled = try connection.compile(outcomes[index].query) else { continue }
        outcomes[index].atReleases.append((release, compiled))
      }
    }
    return outcomes
  }

  private func connection(after count: Int) throws(DatabaseError) -> Connection {
    let connection = try Schema(applying: deltas.prefix(count)).scratch(project.application)
    connection.set(.trustedSchema, to: true)
    return connection
  }

  private func verdicts(on suspects: [Outcome]) throws -> [QueryVerdict] {
    let courses = try courses(of: suspects.map(\.query))
    return zip(suspects, courses).flatMap { verdicts($0, along: $1) }
  }

  /// What becomes of each query with each migration: a second replay, for those alone that differ.
  private func courses(of queries: [ApplicationQuery]) throws -> [[CompiledQuery]] {
    var courses: [[CompiledQuery]] = queries.map { _ in [] }
    let shadow = try Shadow(project.application, passesOverRefused: true)
    for (migration, delta) in zip(project.migrations, deltas) {
      try shadow.apply(migration)
      for (index, query) in queries.enumerated() {
        let known = delta.isEmpty ? courses[index].last : nil
        let compiled = try known ?? shadow.connection.compile(query)
        courses[index].append(compiled ?? .refused(message: "", offset: nil))
      }
    }
    return courses
  }

  // MARK: Judging

  /// - Parameter course: how the query compiled after each migration.
  private func verdicts(_ outcome: Outcome, along course: [CompiledQuery]) -> [QueryVerdict] {
    func verdict(_ kind: QueryVerdict.Kind, at migration: Int, _ offset: Int? = nil) -> QueryVerdict
    {
      QueryVerdict(query: outcome.query, kind: kind, migration: migration, offset: offset)
    }
    let last = course.count - 1
    switch outcome.atEnd {
    case .refused(let message, let offset):
      guard let sound = course.lastIndex(where: { $0.columns != nil }) else {
        return [verdict(.neverCompiled(message: message), at: last, offset)]
      }
      let release = outcome.atReleases.last { $0.compiled.columns != nil }?.release.name
      return [verdict(.broken(message: message, lastRelease: release), at: sound + 1, offset)]
    case .takesNameForText(_, let message, let offset):
      guard let sound = course.lastIndex(where: \.isSound) else {
        return [verdict(.holdsQuotedText(message: message), at: last, offset)]
      }
      return [verdict(.nameBecameText(message: message), at: sound + 1, offset)]
    case .compiles(let columns):
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
