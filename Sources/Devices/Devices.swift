/// The compatibility simulation: devices with two versions of the app exchange rows through a
/// server.
///
/// - ``CompatibilitySimulation``: compares releases in pairs and returns each ``Disagreement``.
/// - ``TableSimulation``: tests one table. ``Exchange``: transfers rows between devices.
///   ``Device``: a private database that also generates the rows.
/// - ``Counterexample``: the smallest sequence of statements that demonstrates the harm.
