import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

extension Project {
  /// Reads a history: every manifest of the folder, and its lock.
  ///
  /// - Parameters:
  ///   - ignoring: globs of live objects that do not belong to the history.
  ///   - readLock: reads the lock.
  ///   - twins: explains which of several manifests with one number must change.
  /// - Throws: `InvalidInput` with every problem of every manifest, or a `Failure`.
  package static func load(
    migrations path: String, application: Application = Application(), ignoring: [String] = [],
    readingLock readLock: (MigrationFolder) throws -> HistoryLock? = { try $0.lock() },
    explaining twins: ([[ManifestName]]) -> [ExactText: String] = MigrationFolder.renumberOneOf
  ) throws -> Project {
    let folder = MigrationFolder(path)
    var project = Project(
      folder: folder, migrations: try folder.migrations(explaining: twins),
      lock: try readLock(folder), application: application,
      foreign: ForeignObjects(ignoring: ignoring))
    if project.migrations.isEmpty, project.lock?.all.isEmpty == true {
      throw Failure(
        .brokenHistory,
        "`\(folder.lockFile)` freezes no migration, and `\(path)` has no manifests",
        remedy: "Restore the folder from git, or delete the lock")
    }
    project.readSquashed = MigrationFolder.readSquashed
    return project
  }
}

// MARK: Manifests

extension Migration {
  /// Reads a manifest.
  package init(id: String, file: String, reading bytes: [UInt8]) throws(InvalidInput) {
    self.init(id: id, file: file, bytes: bytes, manifest: try decodeManifest(bytes, file: file))
  }
}

extension MigrationFolder {
  /// Every manifest, in the order of their numbers. An empty folder is a history without migrations.
  ///
  /// - Parameter twins: explains, by file name, which of several manifests with one number must change.
  /// - Throws: `InvalidInput` with every problem of every manifest, or a `Failure`.
  package func migrations(
    explaining twins: ([[ManifestName]]) -> [ExactText: String] = Self.renumberOneOf
  ) throws -> [Migration] {
    let names = try manifestNames()
    let groups = Dictionary(grouping: names.filter { $0.problem == nil }) {
      MigrationNumber(id: $0.id)
    }.values.filter { $0.count > 1 }
    let twins = groups.isEmpty ? [:] : twins(groups)
    var migrations: [Migration] = []
    var diagnostics: [Diagnostic] = []
    for name in names {
      let file = joinedPath(path, name.text)
      func report(_ message: String) {
        diagnostics.append(Diagnostic(file: file, message: message))
      }
      if let problem = name.problem {
        report(problem)
        continue
      }
      if let problem = twins[name.text] { report(problem) }
      do {
        let bytes = try readFile(file, inFolder: path, limit: Self.manifestSizeLimit)
        migrations.append(try Migration(id: name.id, file: file, reading: bytes))
      } catch let error as InvalidInput {
        diagnostics += error.diagnostics
      } catch let error as FileError where error.isOfFile {
        report(error.message)
      } catch let error as FileError {
        // A failure of the system is not a problem of the manifest.
        throw Failure(error)
      } catch {
        report("\(error)")
      }
    }
    migrations.sort { $0.number < $1.number }
    diagnostics += migrations.enumerated().compactMap { index, migration in
      problem(ofSquash: migration, isFirst: index == 0)
    }
    guard diagnostics.isEmpty else { throw InvalidInput(diagnostics) }
    return migrations
  }

  /// The problem of a manifest that replaces others; nil without one.
  private func problem(ofSquash migration: Migration, isFirst: Bool) -> Diagnostic? {
    guard let last = migration.replacedMigrations.last else { return nil }
    let message: String? =
      if migration.id != squashID(of: last) {
        "the file of a squash through `\(last)` must have the name `\(squashID(of: last)).yaml`"
      } else if !isFirst, !path.hasSuffix("/squashed") {
        "a squash comes first: move the migrations that it replaces to `\(squashed.path)`"
      } else {
        nil
      }
    return message.map { Diagnostic(file: migration.file, message: $0) }
  }

  /// Reads the migrations that a squash replaces; nil if their folder does not exist. An older squash among
  /// them has the number of its last migration.
  @Sendable
  package static func readSquashed(_ folder: MigrationFolder) throws -> [Migration]? {
    guard try somethingExists(at: folder.path) else { return nil }
    return try folder.migrations { groups in
      renumberOneOf(
        groups.map { names in
          let older = squashes(among: names.map(\.id))
          return names.filter { !older.contains($0.id) }
        }.filter { $0.count > 1 })
    }
  }

  /// Advice for two drafts with one number.
  package static func renumberEither(_ one: ManifestName, _ other: ManifestName) -> String {
    ": renumber the one that no database has run (`\(renumberCommand([one.id]))` or "
      + "`\(renumberCommand([other.id]))`)"
  }

  /// The advice for manifests with one number, if nothing else is known about them.
  package static func renumberOneOf(_ groups: [[ManifestName]]) -> [ExactText: String] {
    var problems: [ExactText: String] = [:]
    for names in groups {
      for name in names.dropFirst() {
        problems[name.text] =
          "`\(names[0].text)` has the number \(MigrationNumber(id: name.id)) too"
          + renumberEither(names[0], name)
      }
    }
    return problems
  }
}
