/// A command line that made sense.
package enum ParsedCommandLine: Sendable {
  case run(Invocation)
  /// The text to print, with its last line end.
  case help(String)
  case version(String)
}

/// A command to run, with its arguments and options. Options are asked for by their long name
/// without dashes; one that is not there, or that the command does not have, is nil or false.
package struct Invocation: Sendable {
  package let commandPath: [String]
  package let arguments: [String]
  let values: [String: [OptionValue]]
  /// The options that the environment has not given.
  let typed: Set<String>

  /// Whether the command line itself names the option.
  package func isOnCommandLine(_ name: String) -> Bool { typed.contains(name) }

  /// On the command line or in the environment; a flag that the environment turns off is not.
  package func isGiven(_ name: String) -> Bool {
    values[name].map { $0 != [.flag(false)] } ?? false
  }

  package func flag(_ name: String) -> Bool {
    values[name]?.contains(.flag(true)) ?? false
  }

  /// Of a text or a choice, the first when it repeats.
  package func text(_ name: String) -> String? { texts(name).first }

  /// In the order given.
  package func texts(_ name: String) -> [String] {
    values[name, default: []].compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  package func integer(_ name: String) -> Int? {
    if case .integer(let integer) = values[name]?.first { integer } else { nil }
  }

  package func number(_ name: String) -> Double? {
    if case .number(let number) = values[name]?.first { number } else { nil }
  }
}
