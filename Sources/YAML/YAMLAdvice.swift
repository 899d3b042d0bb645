import SchemaManifest
import SchemaSQLText

/// What to do about a problem that libyaml states in its own words (those of 0.2.5).
enum YAMLAdvice {
  static func advice(
    for problem: String, _ context: String?, at position: Position, in source: SourceText
  ) -> String {
    switch problem {
    case _ where source.isIndentedWithTab(line: position.line),
      "found a tab character that violates indentation",
      "found a tab character where an indentation space is expected":
      "Indent with spaces, not with a tab"
    case "found character that cannot start any token":
      "Put a text that begins with this character in quotes"
    case "mapping values are not allowed in this context":
      "Put a text that contains `: ` in quotes; indent a key like the keys around it"
    case "could not find expected ':'":
      "Every line of a mapping is `key: value`: add the `:`, or put a text of several lines in "
        + "quotes"
    case "did not find expected key":
      "Indent this line like the keys above it; put the whole text in quotes if it begins with a "
        + "quote"
    case "did not find expected '-' indicator":
      "Begin this line with `- `, or indent it further, under the entry that it belongs to"
    case "did not find expected ',' or ']'":
      "Close the list with `]`; quote a text that contains `,`, `[`, `]`, `{` or `}`"
    case "did not find expected ',' or '}'":
      "Close the mapping with `}`; quote a text that contains `,`, `[`, `]`, `{` or `}`"
    case "did not find expected node content":
      "A value is missing here, or a `[` or `{` is not closed"
    case "block sequence entries are not allowed in this context":
      "A list begins on a line of its own, under its key"
    case "mapping keys are not allowed in this context":
      "Put a text that begins with `? ` in quotes"
    case "found unexpected end of stream", "found unexpected document indicator":
      "Close the quote that was opened"
    case "found unknown escape character", "did not find expected hexdecimal number":
      "In double quotes a backslash begins an escape: write it twice, or use single quotes"
    case "did not find expected alphabetic or numeric character":
      "Put a text that begins with `&` or `*` in quotes"
    case "did not find expected comment or line break":
      "After `|` or `>` the text begins on the next line"
    case "did not find expected <document start>":
      "A file has one mapping: indent this line like the keys above it, and write `key: value`"
    case _ where context?.contains("tag") == true:
      "Put a text that begins with `!` in quotes"
    default:
      "Check the indentation, and put a text with special characters in quotes"
    }
  }
}
