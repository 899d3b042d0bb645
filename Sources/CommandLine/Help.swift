import SchemaSQLText

extension CommandLineProgram {
  /// Returns the output of `--help` for a command, or for the program if the path is empty or unknown.
  package func helpText(for commandPath: [String] = []) -> String {
    helpText(for: root.descending(commandPath[...]).scope)
  }

  func helpText(for scope: CommandScope) -> String {
    let name = scope.command == nil ? "\(name) \(version)" : scope.invocation
    let groups =
      scope.command.map { [("Commands", $0.subcommands)] }
      ?? groups.map { ($0.name, $0.commands.map { $0.declaration() }) }
    let commands = TextLayout.tables(groups.map { ($0, $1.map { ($0.name, $0.summary) }) })
    let examples = scope.command?.examples.flatMap { command, meaning in
      [TextLayout.pad(command, by: 2)] + TextLayout.paragraphs(meaning, indent: 6)
    }
    let sections = [
      TextLayout.paragraphs("\(name): \(scope.summary)"),
      ["USAGE", TextLayout.pad(scope.usage, by: 2)],
      TextLayout.paragraphs(scope.command?.discussion ?? ""), commands,
      TextLayout.tables([("Arguments", scope.arguments.map { ($0.name, $0.summary) })]),
      TextLayout.tables([("Options", scope.options.map { ($0.label, $0.explanation) })]),
      examples.map { $0.isEmpty ? [] : ["EXAMPLES"] + $0 } ?? [],
    ]
    let lines = sections.filter { !$0.isEmpty }.joined(separator: [""])
    return lines.map { $0 + "\n" }.joined()
  }
}

extension OptionDeclaration {
  /// `-t, --timeout SECONDS`. An option without a short name is indented to align with the others.
  fileprivate var label: String {
    (short.map { "-\($0), " } ?? "    ") + spelling + valueUsage
  }

  /// The text after the long name: ` PATH`, `[=PATH]` or empty.
  fileprivate var valueUsage: String {
    guard let placeholder = kind.placeholder else { return "" }
    return kind.takesNextWord ? " \(placeholder)" : "[=\(placeholder)]"
  }

  /// The summary, followed by the valid values, repetition and environment variable.
  fileprivate var explanation: String {
    let facts = [
      kind.expectation, repeats ? "repeatable" : nil, environment.map { "environment: \($0)" },
    ].compactMap { $0 }
    return facts.isEmpty ? summary : "\(summary) (\(facts.joined(separator: "; ")))"
  }
}

// MARK: Manual page

extension CommandLineProgram {
  /// Returns the manual page of the program and all its commands, in section 1, in roff with the `man`
  /// macros.
  package func manPage() -> String {
    var page = [".TH \(roff(name.uppercased())) 1 \"\(date)\" \"\(roff("\(name) \(version)"))\""]
    page += [".SH NAME", "\(roff(name)) \\- \(roff(summary))"]
    page += [".SH SYNOPSIS", ".B \(roff(root.usage))"]
    page += discussion.isEmpty ? [] : [".SH DESCRIPTION"] + roffParagraphs(discussion)
    page += [".SH OPTIONS"] + root.sharedOptions.flatMap(\.roffEntry)
    page += [".SH COMMANDS"] + scopes.dropFirst().flatMap(\.roffSubsection)
    var variables = environment.map { ($0, $1) }
    for variable in scopes.flatMap(\.ownOptions).compactMap(\.roffVariable)
    where !variables.contains(where: { $0.0 == variable.0 }) {
      variables.append(variable)
    }
    for (title, entries) in [
      ("ENVIRONMENT", variables.sorted { $0.0 < $1.0 }), ("FILES", files.map { ($0, $1) }),
      ("EXIT STATUS", exitCodes.map { ($0, $1) }),
    ] where !entries.isEmpty {
      page += [".SH \(title)"] + entries.flatMap(roffEntry)
    }
    return page.map { $0 + "\n" }.joined()
  }
}

extension CommandScope {
  fileprivate var roffSubsection: [String] {
    guard let command else { return [] }
    var lines = [".SS \(roff(names.joined(separator: " ")))"] + roffLines(command.summary)
    lines += [".PP", ".B \(roff(usage))"]
    lines += command.discussion.isEmpty ? [] : [".PP"] + roffParagraphs(command.discussion)
    lines += command.arguments.flatMap { roffEntry($0.usage, $0.summary) }
    lines += command.options.flatMap(\.roffEntry)
    lines += command.examples.flatMap(roffEntry)
    return lines
  }
}

extension OptionDeclaration {
  fileprivate var roffEntry: [String] {
    SchemaCommandLine.roffEntry(spellings.joined(separator: ", ") + valueUsage, explanation)
  }

  fileprivate var roffVariable: (String, String)? {
    environment.map { ($0, "The default of `\(spelling)`.") }
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
  wrapped(roff(text), columns: 76).map { $0.hasPrefix(".") ? "\\&" + $0 : $0 }
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
    case "`": escaped += "\\(ga"
    case "\n": escaped += " "
    default: escaped.unicodeScalars.append(scalar)
    }
  }
  return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
}

// MARK: Layout

/// Lays out plain text for a terminal of 80 columns.
private enum TextLayout {
  static let width = 80

  /// Fills paragraphs to the width, with blank lines between them.
  static func paragraphs(_ text: String, indent: Int = 0) -> [String] {
    let paragraphs = split(text).map { wrapped($0, columns: width - indent) }
    return Array(paragraphs.joined(separator: [""])).map { pad($0, by: indent) }
  }

  /// Returns the paragraphs of a text, each on one line.
  static func split(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .split(whereSeparator: \.isEmpty).map { $0.joined(separator: " ") }
  }

  /// Lays out tables, each with a title, and skips empty ones. All tables share two columns: the labels on
  /// the left, the texts on the right.
  static func tables(_ tables: [(title: String, rows: [(label: String, text: String)])]) -> [String]
  {
    let indent = 2
    let widest = 26
    let lengths = tables.flatMap(\.rows).map(\.label.count)
    let labels = lengths.filter { $0 <= widest }.max() ?? widest
    let column = indent + labels + 2
    return tables.filter { !$0.rows.isEmpty }.flatMap { table in
      [table.title.uppercased()]
        + table.rows.flatMap { row -> [String] in
          let texts = wrapped(row.text, columns: width - column).map { pad($0, by: column) }
          let label = pad(row.label, by: indent)
          guard let first = texts.first, row.label.count <= labels else { return [label] + texts }
          return [label + first.dropFirst(label.count)] + texts.dropFirst()
        }
    }
  }

  static func pad(_ line: String, by indent: Int) -> String {
    line.isEmpty ? "" : String(repeating: " ", count: indent) + line
  }
}
