import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// Writes the reports of a command in one output format.
protocol Reporter {
  /// Reports information that is neither a result nor a problem.
  func note(_ text: String)
  /// Reports a probable mistake that does not change the exit status.
  func warn(_ text: String)
  func follow(_ event: MigrateEvent)
  func follow(_ event: FleetEvent)
  /// Reports a result. Each format creates and writes only one of the three forms.
  func report(
    _ json: () -> JSON?, _ annotations: () -> Annotations?, _ text: (TextReporter) -> Void)
}

extension Reporter {
  func note(_ text: String) {}
  func warn(_ text: String) {}
  func follow(_ event: MigrateEvent) {}
  func follow(_ event: FleetEvent) {}

  /// Reports the failure that ended the command.
  func stop(_ failure: Failure) {
    report({ ["error": failure.error] }, { Annotations(failure) }) { $0.complain(failure) }
  }
}

/// The output formats of `--format`.
enum OutputFormat: String, CaseIterable {
  case text, json, jsonl, yaml, sarif, github, xcode

  /// The formats of most commands.
  static let common: [OutputFormat] = [.text, .json]
  /// The formats of commands that report places in manifests.
  static let reporting: [OutputFormat] = [.text, .json, .sarif, .github, .xcode]

  /// Finds the format in unparsed arguments, so that usage errors are also reported in the requested format.
  init(askedForIn arguments: [String]) {
    let values = zip(arguments, arguments.dropFirst() + [""]).compactMap { word, next in
      word == "--format"
        ? next : word.hasPrefix("--format=") ? String(word.dropFirst("--format=".count)) : nil
    }
    self = values.compactMap(OutputFormat.init).last ?? .text
  }

  func reporter(output: Output, errors: Output, _ volume: Volume) -> any Reporter {
    switch self {
    case .text, .yaml: TextReporter(output: output, errors: errors, volume)
    case .json: JSONReporter(output)
    case .jsonl: JSONLinesReporter(output: output)
    case .sarif: SARIFReporter(output)
    case .github:
      AnnotationReporter(
        output: output, errors: errors, volume: volume, line: Annotation.gitHubLine)
    case .xcode:
      AnnotationReporter(output: output, errors: errors, volume: volume, line: Annotation.xcodeLine)
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
