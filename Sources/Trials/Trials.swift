/// Runs migrations on generated rows, or on a copy of a real database, after they have run on empty tables.
///
/// - ``LossTrial``: the experiment that decides which values and rows a migration loses. ``Experiment`` runs
///   it, ``RowFiller`` makes its rows, ``LossJudge`` reads the outcome.
/// - ``SeededReplay``: finds migrations that fail only on rows. ``DataReplay``: the same on a copy.
/// - ``DeviceTable``, ``Candidates``, ``RowSearch``: a table as SQLite describes it, values that its columns
///   may take, and the search for a row that SQLite accepts.
