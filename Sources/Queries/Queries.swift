/// The application's queries, compiled on the latest schema and on those of the releases.
///
/// - ``QueryFolder``: reads the files. ``ApplicationQuery``: one statement with its suppressions.
/// - ``QueryTrial``: compiles the queries during a replay and returns a ``QueryVerdict`` for each change.
