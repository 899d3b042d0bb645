import SchemaPlatform

/// The time at which waiting ends.
struct Deadline {
  private let time = Stopwatch()
  private let seconds: Double

  init(after seconds: Double) { self.seconds = seconds }

  var hasPassed: Bool { time.seconds >= seconds }
}
