import SchemaCYAML
import SchemaManifest
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

/// The reason why no tree can be built: an error of libyaml with its message, or a refusal of the reader.
enum YAMLProblem: Error {
  /// A byte that is not valid UTF-8, or a character that YAML does not allow.
  case reading(offset: Int, value: Int, problem: String)
  case syntax(problem: String, Position, context: String?, contextLine: Int)
  case memory
  case refusal(String, Position)
}

/// The parser of libyaml for a text in memory.
struct YAMLEventStream: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>

  init(_ bytes: [UInt8]) throws(YAMLProblem) {
    parser = .allocate(capacity: 1)
    input = .allocate(capacity: bytes.count)
    _ = input.initialize(from: bytes)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      input.deallocate()
      throw .memory
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    input.deallocate()
  }

  mutating func next() throws(YAMLProblem) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { yaml_event_delete(&event) }
    return YAMLEvent(event)
  }

  private func failure() -> YAMLProblem {
    let problem = text(parser.pointee.problem)
    switch parser.pointee.error {
    case YAML_READER_ERROR:
      return .reading(
        offset: parser.pointee.problem_offset, value: Int(parser.pointee.problem_value),
        problem: problem ?? "unreadable input")
    case YAML_SCANNER_ERROR, YAML_PARSER_ERROR:
      return .syntax(
        problem: problem ?? "unknown problem", Position(parser.pointee.problem_mark),
        context: text(parser.pointee.context), contextLine: parser.pointee.context_mark.line + 1)
    default:
      return .memory
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
