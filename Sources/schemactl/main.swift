import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// Ends the program with a usage error.
func refuse(_ message: String, _ status: ExitStatus) -> Never {
  _ = writeAll(Array("schemactl: error: \(message)\n".utf8), to: 2)
  exit(status.rawValue)
}

// Swift replaces invalid UTF-8, so two different file names could become the same text.
let isReadable = (0..<Int(CommandLine.argc)).allSatisfy { index in
  guard let word = CommandLine.unsafeArgv[index] else { return true }
  return String(validatingCString: word) != nil
}
if !isReadable { refuse("a word of the command line is not UTF-8", .usage) }
if let database = getenv("SCHEMACTL_DATABASE"), String(validatingCString: database) == nil {
  refuse("SCHEMACTL_DATABASE is not UTF-8", .usage)
}
// Swift traps when the argument list is empty.
if CommandLine.arguments.isEmpty {
  refuse("schemactl cannot read the command line: check that `/proc` is mounted", .inputOutput)
}
exit(Tool(arguments: Array(CommandLine.arguments.dropFirst())).run().rawValue)
