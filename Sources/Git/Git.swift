/// The locks and manifests of other revisions. `git` itself answers; nothing here reads its files.
///
/// - ``OtherRevisions``: the locks of HEAD, of an open merge, of tags and of the merge base.
/// - ``Project/verify(database:timeout:interruption:base:)``: `verify`, with that comparison and the diffs of edits.
/// - ``MigrationFolder/repairedLock()``: a lock with conflict markers, as `freeze` reads it.
