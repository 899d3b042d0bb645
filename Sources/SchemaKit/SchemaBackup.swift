import SchemaCopies
import SchemaSQLText

/// A copy of a database, made before it is migrated. `schemactl restore` puts it back.
///
/// Its name is the database's with a number that counts up and the time,
/// `app.sqlite.backup-0007-20261120T130000Z`.
/// A run that applies no migration removes the one that it has made.
public struct SchemaBackup: Sendable, Hashable {
  /// The folder that it is put into, which has to be there; nil is that of the database.
  public var folder: String?
  /// How many backups of the database stay once it is migrated, the new one among them; 1 at least.
  public var keep: Int

  /// A copy in a folder, and how many of them stay.
  public init(folder: String? = nil, keep: Int = 5) {
    self.folder = folder
    self.keep = keep
  }

  var options: BackupOptions {
    BackupOptions(folder.map { .folder($0) } ?? .besideDatabase, keep: max(1, keep))
  }
}
