extension CommandLineProgram {
  /// The manual page of section 1, in roff with the `man` macros: the program and all its commands.
  package func manPage() -> String {
    var page = [".TH \(roff(name.uppercased())) 1 \"\(date)\" \"\(roff("\(name) \(version)"))\""]
    page += [".SH NAME", "\(roff(name)) \\- \(roff(summary))"]
    page += [".SH SYNOPSIS", ".B \(roff(root.usage))"]
    page += discussion.isEmpty ? [] : [".SH DESCRIPTION"] + roffParagraphs(discussion)
    page += [".SH OPTIONS"] + root.sharedOptions.flatMap(\.roffEntry)
    page += [".SH COMMANDS"] + scopes.dropFirst().flatMap(\.roffSubsection)
    page += section("ENVIRONMENT", allEnvironment) + section("FILES", files)
    page += section("EXIT STATUS", exitCodes)
    return page.map { $0 + "\n" }.joined()
  }

  private var allEnvironment: [HelpEntry] {
    let own = scopes.flatMap(\.ownOptions).compactMap { option in
      option.environment.map {
        HelpEntry($0, "The value of \(option.spelling) when that option is not given.")
      }
    }
    var entries = environment
    for entry in own where !entries.contains(where: { $0.label == entry.label }) {
      entries.append(entry)
    }
    return entries.sorted { $0.label < $1.label }
  }

  private func section(_ title: String, _ entries: [HelpEntry]) -> [String] {
    entries.isEmpty ? [] : [".SH \(title)"] + entries.flatMap(\.roff)
  }
}

extension HelpEntry {
  fileprivate var roff: [String] { roffEntry(label, meaning) }
}

extension CommandScope {
  fileprivate var roffSubsection: [String] {
    guard let command else { return [] }
    var lines = [".SS \(roff(names.joined(separator: " ")))"] + roffLines(command.summary)
    lines += [".PP", ".B \(roff(usage))"]
    lines += command.discussion.isEmpty ? [] : [".PP"] + roffParagraphs(command.discussion)
    lines += command.arguments.flatMap { roffEntry($0.usage, $0.summary) }
    lines += command.options.flatMap(\.roffEntry)
    lines += command.examples.flatMap(\.roff)
    return lines
  }
}

extension OptionDeclaration {
  fileprivate var roffEntry: [String] {
    SchemaCommandLine.roffEntry(
      spellings.joined(separator: ", ") + valueUsage, explanation)
  }
}

private func roffEntry(_ label: String, _ text: String) -> [String] {
  [".TP", ".B \(roff(label))"] + roffLines(text)
}

private func roffParagraphs(_ text: String) -> [String] {
  Array(TextLayout.split(text).map(roffLines).joined(separator: [".PP"]))
}

/// Splits the text into lines of at most 80 bytes, which mandoc recommends.
private func roffLines(_ text: String) -> [String] {
  TextLayout.wrap(roff(text), width: 76).map { $0.hasPrefix(".") ? "\\&" + $0 : $0 }
}

/// Escapes the text, so that roff prints it literally.
private func roff(_ text: String) -> String {
  var escaped = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\\": escaped += "\\e"
    case "-": escaped += "\\-"
    case "\"": escaped += "\\(dq"
    case "'": escaped += "\\(aq"
    case "\n": escaped += " "
    default: escaped.unicodeScalars.append(scalar)
    }
  }
  return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
}
