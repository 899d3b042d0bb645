/// The locks and manifests of other revisions, read by running `git`; nothing here reads its files.
///
/// - ``OtherRevisions``: the locks of HEAD, of an open merge, of tags and of the merge base.
/// - ``Project/verify(database:timeout:interruption:base:)``: `verify`, including this comparison
///   and the differences of edits.
/// - ``MigrationFolder/repairedLock()``: a lock with conflict markers, as `freeze` reads it.
/// - ``RepositoryPaths``: paths as review tools name them.
