extension CommandLineProgram {
  /// The manual page of section 1, in roff with the `man` macros: the program and all its commands.
  package func manPage() -> String {
    var page = [".TH \(roff(name.uppercased())) 1 \"\" \"\(roff("\(name) \(version)"))\""]
    page += [".SH NAME", "\(roff(name)) \\- \(roff(summary))"]
    page += [".SH SYNOPSIS"] + root.usages.flatMap { [".B \(roff($0))"] }
    page += discussion.isEmpty ? [] : [".SH DESCRIPTION"] + roffParagraphs(discussion)
    page += [".SH OPTIONS"] + root.sharedOptions.flatMap(\.roffEntry)
    page += [".SH COMMANDS"] + visibleScopes.dropFirst().flatMap(\.roffSubsection)
    page += environmentSection + exitStatusSection
    page += [".SH SEE ALSO"] + [root.seeAlso.map(roff).joined(separator: ", ")]
    return page.map { $0 + "\n" }.joined()
  }

  private var environmentSection: [String] {
    var entries: [String: [String]] = [:]
    for option in visibleScopes.flatMap({ $0.ownOptions }) + options {
      guard let variable = option.environment else { continue }
      entries[variable] = roffEntry(
        variable, "Stands for \(option.spelling) where it is not given.")
    }
    let sorted = entries.sorted { $0.key < $1.key }.flatMap(\.value)
    return sorted.isEmpty ? [] : [".SH ENVIRONMENT"] + sorted
  }

  private var exitStatusSection: [String] {
    guard !exitCodes.isEmpty else { return [] }
    return [".SH EXIT STATUS"] + exitCodes.flatMap { roffEntry(String($0.code), $0.meaning) }
  }
}

extension CommandScope {
  fileprivate var roffSubsection: [String] {
    guard let command else { return [] }
    var lines = [".SS \(roff(names.joined(separator: " ")))", roff(command.summary)]
    lines += usages.flatMap { [".PP", ".B \(roff($0))"] }
    lines += command.discussion.isEmpty ? [] : [".PP"] + roffParagraphs(command.discussion)
    lines += command.arguments.flatMap { roffEntry($0.usage, $0.summary) }
    lines += command.options.flatMap(\.roffEntry)
    lines += command.examples.flatMap { roffEntry($0.command, $0.meaning) }
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
  [".TP", ".B \(roff(label))", roff(text)]
}

private func roffParagraphs(_ text: String) -> [String] {
  Array(TextLayout.split(text).map { [roff($0)] }.joined(separator: [".PP"]))
}

/// A text as roff prints it: no letter of it is a command.
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
