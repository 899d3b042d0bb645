/// Copies of databases. ``Copier`` fills a temporary file next to the final path with SQLite's backup API, in
/// a read transaction. The copy then gets its permissions, is synced, and is renamed or linked to its final
/// path.
///
/// - ``Backups``: finds, names and removes the backups of a database.
/// - ``Restore``: replaces a database by a backup. ``DraftCopy``: the copy from before the first draft.
