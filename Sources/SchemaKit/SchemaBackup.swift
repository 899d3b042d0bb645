import SchemaCopies
import SchemaSQLText

/// A copy of a database, made before its migration. `schemactl restore` restores it.
///
/// Its name is the name of the database with an increasing number and the time,
/// `app.sqlite.backup-0007-20261120T130000Z`. In another folder, the name also contains a digest of the
/// database's path, so that databases of one name can share the folder. Copies of a database that has moved
/// since are not counted or removed. A run that applies no migration leaves no copy.
public struct SchemaBackup: Sendable, Hashable {
  /// The folder for the copy, which must exist; nil for the folder of the database.
  public var folder: String?
  /// The number of backups of the database to keep after a migration, including the new one; at least 1.
  public var keep: Int

  /// Creates options for a copy in a folder, with the number of copies to keep.
  public init(folder: String? = nil, keep: Int = 5) {
    self.folder = folder
    self.keep = keep
  }

  var options: BackupOptions {
    BackupOptions(folder.map { .folder($0) } ?? .besideDatabase, keep: max(1, keep))
  }
}
