import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// `2020-01-01-120000_create_users/up.sql` and `down.sql`.
enum Diesel: ForeignFormat {
  static func recognises(_ source: SourceFiles) -> Bool {
    source.scripts.contains { fileName($0) == "up.sql" && !folderName($0).isEmpty }
  }

  static func read(_ reader: inout ForeignHistory) throws(Failure) {
    for path in reader.source.scripts where !folderName(path).isEmpty {
      let folder = fileName(folderName(path))
      let parts = folder.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
      // The version is the part before the first `_`, without dashes.
      let version = String(parts[0].filter { $0 != "-" })
      guard !version.isEmpty else { continue }
      switch fileName(path) {
      case "down.sql": reader.noteDown(file: path)
      case "up.sql":
        reader.add(
          number: version.utf8.allSatisfy(\.isDigit) ? version : "",
          name: parts.count > 1 ? String(parts[1]) : "migration", path,
          try reader.part(path),
          ReplacedEntries("__diesel_schema_migrations", .diesel, version))
      default: break
      }
    }
    // Diesel sorts by the version as text.
    reader.steps.sort { ($0.replaces?.entries[0] ?? "") < ($1.replaces?.entries[0] ?? "") }
  }
}
