/// Runs migrations on generated rows or on a copy of a real database, after they ran on empty
/// tables.
///
/// - ``RowTrial``: one filled database per migration, which determines the values and rows that the
///   migration loses, and whether it fails on rows. ``Experiment`` runs it, ``RowFiller`` creates its
///   rows, ``LossJudge`` evaluates the outcome, ``RowFailures`` explains a failure.
///   ``TriedHistory`` holds the schemas and the rows that earlier migrations left.
/// - ``DataReport``: the pending migrations on a copy of a real database.
/// - ``DeviceTable``, ``Candidates``, ``RowSearch``: a table for which rows are generated, values for its
///   columns, and the search for a row that SQLite accepts.
