import SchemaSQLText

/// The output formats of `--format`.
enum OutputFormat: String, CaseIterable {
  case text, json, jsonl, yaml, sarif, github, xcode

  /// Formats of every command.
  static let common: [OutputFormat] = [.text, .json]
  /// For commands that report places in manifests.
  static let reporting: [OutputFormat] = [.text, .json, .sarif, .github, .xcode]
  /// For commands that report many databases.
  static let fleet: [OutputFormat] = [.text, .json, .jsonl]
  static let inspection: [OutputFormat] = [.text, .json, .yaml]

  /// Finds the format among unparsed arguments, so that usage errors are reported in the format,
  /// too.
  init(askedForIn arguments: [String]) {
    var format = OutputFormat.text
    for (index, word) in arguments.enumerated() {
      let value: String? =
        if word.hasPrefix("--format=") {
          String(word.dropFirst("--format=".count))
        } else if word == "--format", index + 1 < arguments.count {
          arguments[index + 1]
        } else {
          nil
        }
      format = value.flatMap(OutputFormat.init) ?? format
    }
    self = format
  }

  func reporter(output: Output, errors: Output, _ volume: Volume) -> any Reporter {
    switch self {
    case .text, .yaml: TextReporter(output: output, errors: errors, volume)
    case .json: JSONReporter(output)
    case .jsonl: JSONLinesReporter(output)
    case .sarif: SARIFReporter(output)
    case .github:
      AnnotationReporter(
        output: output, errors: errors, volume: volume, line: GitHubLines().line(_:))
    case .xcode:
      AnnotationReporter(
        output: output, errors: errors, volume: volume, line: XcodeLines().line(_:))
    }
  }
}

/// The amount of text output.
enum Volume {
  /// `--quiet`: problems and requested results only.
  case quiet
  /// Summarises long lists.
  case normal
  case verbose
}
