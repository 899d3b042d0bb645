/// The result of parsing a valid command line.
package enum ParsedCommandLine: Sendable {
  case run(Invocation)
  /// The text to print, including its final line feed.
  case help(String)
  case version(String)
}

/// A command to run, with its arguments and options. Options are looked up by their long name
/// without dashes. The result is nil or false for an option that was not given or that the command
/// does not have.
package struct Invocation: Sendable {
  package let commandPath: [String]
  package let arguments: [String]
  /// Valid texts; none for `--name` without a value.
  let values: [String: [String]]
  /// The options from the command line, as opposed to the environment.
  let typed: Set<String>

  /// Whether the command line itself contains the option.
  package func isOnCommandLine(_ name: String) -> Bool { typed.contains(name) }

  /// Whether the command line or the environment sets the option.
  package func isGiven(_ name: String) -> Bool { values[name] != nil }

  package func flag(_ name: String) -> Bool { isGiven(name) }

  /// The option's value; the first one if it repeats.
  package func text(_ name: String) -> String? { texts(name).first }

  /// The values in the given order.
  package func texts(_ name: String) -> [String] { values[name] ?? [] }

  package func integer(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

  package func number(_ name: String) -> Double? { text(name).flatMap { Double($0) } }
}
