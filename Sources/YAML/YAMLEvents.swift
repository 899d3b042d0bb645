import SchemaCYAML
import SchemaManifest
import SchemaPlatform
import SchemaSQLText

/// A part of a YAML document as libyaml reports it.
struct YAMLEvent {
  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias(String)
    case scalar(text: String, Scalar.Style)
    case sequenceStart, sequenceEnd, mappingStart, mappingEnd
  }

  let kind: Kind
  let anchor: String?
  let tag: String?
  let start: Position
  /// The start of the event, in code points from the beginning of the text.
  let startIndex: Int
  let endIndex: Int
}

/// The parser of libyaml for a text in memory.
struct YAMLEventStream: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>
  private let source: SourceText
  private let file: String

  /// - Parameter file: the name of the file in diagnostics.
  init(_ source: SourceText, file: String) throws(Diagnostic) {
    self.source = source
    self.file = file
    parser = .allocate(capacity: 1)
    input = .allocate(capacity: source.bytes.count)
    _ = input.initialize(from: source.bytes)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      input.deallocate()
      throw Self.outOfMemory(file)
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    input.deallocate()
  }

  mutating func next() throws(Diagnostic) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { yaml_event_delete(&event) }
    return YAMLEvent(event)
  }

  private static func outOfMemory(_ file: String) -> Diagnostic {
    Diagnostic(file: file, message: "memory ran out while schemactl read the file")
  }

  private func failure() -> Diagnostic {
    let problem = text(parser.pointee.problem)
    switch parser.pointee.error {
    case YAML_READER_ERROR:
      let position = source.position(ofByte: parser.pointee.problem_offset)
      let message: String
      if problem == "control characters are not allowed" {
        let value = Int(parser.pointee.problem_value)
        let digits = padded(String(value, radix: 16, uppercase: true), 4)
        message =
          "the control character U+\(digits) is not allowed in YAML: write it as an escape in "
          + "double quotes"
      } else {
        message = "the file is not UTF-8 (\(problem ?? "unreadable input")): save it as UTF-8"
      }
      return Diagnostic(file: file, position: position, message: message)
    case YAML_SCANNER_ERROR, YAML_PARSER_ERROR:
      let position = Position(parser.pointee.problem_mark)
      var message = "the file is not valid YAML: \(problem ?? "unknown problem")"
      if let context = text(parser.pointee.context) {
        let line = Position(parser.pointee.context_mark).line
        message += " \(context)"
        if line != position.line { message += " that begins on line \(line)" }
      }
      message +=
        source.isIndentedWithTab(line: position.line)
        ? ". Indent with spaces, not with a tab"
        : ". Check the indentation, quotes and brackets. Put a text that contains `: ` or begins "
          + "with a special character in quotes"
      // At the end of the file, libyaml reports a line that no editor shows.
      let end = source.position(ofByte: source.bytes.count)
      return Diagnostic(file: file, position: min(position, end), message: message)
    default:
      return Self.outOfMemory(file)
    }
  }

  private func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}

extension YAMLEvent {
  fileprivate init(_ event: yaml_event_t) {
    var anchor: UnsafeMutablePointer<yaml_char_t>?
    var tag: UnsafeMutablePointer<yaml_char_t>?
    switch event.type {
    case YAML_STREAM_START_EVENT: kind = .streamStart
    case YAML_DOCUMENT_START_EVENT: kind = .documentStart
    case YAML_DOCUMENT_END_EVENT: kind = .documentEnd
    case YAML_ALIAS_EVENT: kind = .alias(Self.text(event.data.alias.anchor) ?? "")
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      (anchor, tag) = (scalar.anchor, scalar.tag)
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      kind = .scalar(text: String(decoding: bytes, as: UTF8.self), .init(scalar.style))
    case YAML_SEQUENCE_START_EVENT:
      (anchor, tag) = (event.data.sequence_start.anchor, event.data.sequence_start.tag)
      kind = .sequenceStart
    case YAML_SEQUENCE_END_EVENT: kind = .sequenceEnd
    case YAML_MAPPING_START_EVENT:
      (anchor, tag) = (event.data.mapping_start.anchor, event.data.mapping_start.tag)
      kind = .mappingStart
    case YAML_MAPPING_END_EVENT: kind = .mappingEnd
    default: kind = .streamEnd
    }
    self.anchor = Self.text(anchor)
    self.tag = Self.text(tag)
    start = Position(event.start_mark)
    startIndex = event.start_mark.index
    endIndex = event.end_mark.index
  }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}

extension Scalar.Style {
  fileprivate init(_ style: yaml_scalar_style_t) {
    switch style {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE: self = .singleQuoted
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE: self = .doubleQuoted
    case YAML_LITERAL_SCALAR_STYLE: self = .literal
    case YAML_FOLDED_SCALAR_STYLE: self = .folded
    default: self = .plain
    }
  }
}

extension Position {
  /// libyaml counts from 0.
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: mark.line + 1, column: mark.column + 1)
  }
}
