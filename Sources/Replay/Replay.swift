/// The scratch database, the only mechanism that runs a history privately.
///
/// - ``Project``: a history, and everything that is needed to run it.
/// - ``Project/replay(_:interruption:preparing:observing:)``: runs it and reports each step.
/// - ``ScratchDatabase``: the scratch database. ``Runner``: runs one migration on a connection, scratch or
///   real.
