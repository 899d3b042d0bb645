import SchemaCopies
import SchemaSQLText

/// A copy of a database, made before its migration. `schemactl restore` puts it back.
///
/// Its name is the database's with a number that counts up and the time,
/// `app.sqlite.backup-0007-20261120T130000Z`.
/// A run that applies no migration removes its copy.
public struct SchemaBackup: Sendable, Hashable {
  /// The folder for the copy, which must exist; nil is the folder of the database.
  public var folder: String?
  /// How many backups of the database to keep after a migration, including the new one; at least 1.
  public var keep: Int

  /// A copy in a folder, and how many copies to keep.
  public init(folder: String? = nil, keep: Int = 5) {
    self.folder = folder
    self.keep = keep
  }

  var options: BackupOptions {
    BackupOptions(folder.map { .folder($0) } ?? .besideDatabase, keep: max(1, keep))
  }
}
