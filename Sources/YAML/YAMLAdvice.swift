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
      "A tab stands here: indent with spaces"
    case "found character that cannot start any token":
      "No plain text begins with this character: put the text in quotes"
    case "mapping values are not allowed in this context":
      "A text that holds `: ` must stand in quotes; if a key is meant, indent it like its neighbours"
    case "could not find expected ':'":
      "Every line of a mapping is `key: value`: add the `:`, or put a text that goes on over "
        + "several lines in quotes"
    case "did not find expected key":
      "Indent this line like the keys above it; a text that begins with a quote must be quoted as "
        + "a whole"
    case "did not find expected '-' indicator":
      "Begin this line with `- `, or indent it further, under the entry that it belongs to"
    case "did not find expected ',' or ']'":
      "Close the list with `]`; quote a text that holds `,`, `[`, `]`, `{` or `}`"
    case "did not find expected ',' or '}'":
      "Close the mapping with `}`; quote a text that holds `,`, `[`, `]`, `{` or `}`"
    case "did not find expected node content":
      "A value is missing here, or a `[` or `{` is not closed"
    case "block sequence entries are not allowed in this context":
      "A list begins on a line of its own, under its key"
    case "mapping keys are not allowed in this context":
      "A text that begins with `? ` must stand in quotes"
    case "found unexpected end of stream", "found unexpected document indicator":
      "Close the quote that was opened"
    case "found unknown escape character", "did not find expected hexdecimal number":
      "In double quotes a backslash begins an escape: write it twice, or use single quotes"
    case "did not find expected alphabetic or numeric character":
      "A text that begins with `&` or `*` must stand in quotes"
    case "did not find expected comment or line break":
      "After `|` or `>` the text begins on the next line"
    case "did not find expected <document start>":
      "A file holds one mapping: indent this line like the keys above it, and write `key: value`"
    case _ where context?.contains("tag") == true:
      "A text that begins with `!` must stand in quotes"
    default:
      "Look at the indentation, and put a text with special characters in quotes"
    }
  }
}
