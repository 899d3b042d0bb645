/// The application's queries, compiled on the latest schema and on the schemas of the releases.
///
/// - ``QueryFolder``: reads the files. ``ApplicationQuery``: one statement with its suppressions.
/// - ``QueryTrial``: compiles the queries during a replay and returns the effects of the history on
///   them, each as a ``QueryVerdict``.
