import SchemaReplay

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}

extension ReplayedStatement {
  /// How long it ran on the scratch database.
  var duration: Duration { .nanoseconds(nanoseconds) }
}
