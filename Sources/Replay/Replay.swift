/// The scratch database: the only way to run a history privately.
///
/// - ``Project``: a history with everything that running it needs.
/// - ``Project/replay(_:interruption:preparing:observing:)``: runs it, and reports each step.
/// - ``ScratchDatabase``: the scratch database. ``Runner``: runs one migration on a connection, scratch or real.
