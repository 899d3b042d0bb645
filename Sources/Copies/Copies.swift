/// Copies of databases. ``Copier`` makes each of them: a temporary file beside its final place, SQLite's
/// backup API in a read transaction, permissions, fsync, then a rename or link.
///
/// - ``Backups``: finds, keeps and removes the backups of a database.
/// - ``Restore``: puts a backup back. ``DraftCopy``: the copy from before the first draft.
