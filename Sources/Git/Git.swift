/// The locks and manifests of other revisions, read by running `git`. Only ``OpenOperation`` reads git's own
/// files.
///
/// - ``OtherRevisions``: the locks of HEAD, of an open merge, of tags and of the merge base.
/// - ``Project/verify(_:base:interruption:)``: `verify`, including this comparison and the differences of
///   edits.
/// - ``MigrationFolder/repairedLock()``: a lock with conflict markers, as `freeze` reads it.
/// - ``RepositoryPaths``: paths in the form that review tools use.
