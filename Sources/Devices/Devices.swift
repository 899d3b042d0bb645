/// The compatibility simulation: devices with two versions of the app exchange rows through a server.
///
/// - ``CompatibilitySimulation``: compares releases in pairs and returns each ``Disagreement``.
/// - ``TableSimulation``: what is tried with one table. ``Exchange``: carries rows from one device to the
///   other. ``RowMaker``: the rows that it carries.
/// - ``Counterexample``: the smallest sequence of statements that shows the harm.
