import SchemaHistory
import SchemaReplay
import SchemaSQLText

/// A version of the app that a device may run: a release, or the current history.
package struct AppVersion: Sendable, Hashable {
  /// `1.0`, or the id of the last migration if no release ends there.
  package let name: String
  package let isRelease: Bool
  /// The number of its migrations.
  package let count: Int

  package init(name: String, isRelease: Bool, count: Int) {
    self.name = name
    self.isRelease = isRelease
    self.count = count
  }

  /// For a sentence.
  package var device: String { isRelease ? "a \(name) device" : "a device with `\(name)`" }
}

extension Project {
  /// The versions that syncing devices may run, the oldest first. The last one is the current
  /// history, whether released or not.
  ///
  /// - Parameters:
  ///   - replayed: the number of migrations that lint replayed.
  ///   - oldest: the minimum number of migrations in the oldest version.
  package func versions(replayed: Int, oldest: Int) -> [AppVersion] {
    var versions: [AppVersion] = []
    for release in lock?.releases ?? [] {
      guard let index = migrations.prefix(replayed).firstIndex(where: { $0.id == release.lastID }),
        index + 1 >= oldest
      else { continue }
      versions.append(AppVersion(name: release.name, isRelease: true, count: index + 1))
    }
    versions.sort { $0.count < $1.count }
    guard let last = versions.last, last.count < replayed else { return versions }
    let head = migrations[replayed - 1].id
    return versions + [AppVersion(name: head, isRelease: false, count: replayed)]
  }
}
