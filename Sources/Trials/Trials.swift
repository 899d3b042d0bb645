/// Runs migrations on generated rows or on a copy of a real database, after they ran on empty
/// tables.
///
/// - ``LossTrial``: the experiment that determines which values and rows a migration loses.
///   ``Experiment`` runs it, ``RowFiller`` creates its rows, ``LossJudge`` evaluates the outcome.
/// - ``SeededReplay``: finds migrations that fail only on rows. ``DataReplay``: the same on a copy.
/// - ``DeviceTable``, ``Candidates``, ``RowSearch``: a table for which rows are generated, values for its
///   columns, and the search for a row that SQLite accepts.
