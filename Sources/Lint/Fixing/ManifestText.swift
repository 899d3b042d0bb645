import SchemaManifest
import SchemaSQLText
import SchemaYAML

/// The text of a manifest, for edits that preserve all other bytes, including comments.
///
/// The methods that return edits return nil if they do not support the layout of the text.
package struct ManifestText {
  /// A range of the file and its replacement.
  package struct Edit: Sendable, Hashable {
    package let range: Range<Int>
    package let text: String
  }

  private let source: SourceText
  private let root: Node
  /// The byte order mark; empty if the file has none.
  private let mark: [UInt8]
  private let lineEnd: String

  /// Returns nil if the file is empty or not valid YAML.
  package init?(_ bytes: [UInt8], file: String) {
    guard let document = try? YAMLReader.read(bytes, file: file), let root = document.root else {
      return nil
    }
    source = document.source
    self.root = root
    mark = Array(bytes.prefix(bytes.count - source.bytes.count))
    lineEnd = bytes.contains(.carriageReturn) ? "\r\n" : "\n"
  }

  /// The file with the edits; nil if two edits overlap.
  package func applying(_ edits: [Edit]) -> [UInt8]? {
    var bytes = mark
    var end = 0
    // Insertions at the same offset remain in their order.
    let ordered = edits.enumerated().sorted {
      ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
    }.map(\.element)
    for edit in ordered {
      guard edit.range.lowerBound >= end else { return nil }
      bytes += source.bytes[end..<edit.range.lowerBound] + Array(edit.text.utf8)
      end = edit.range.upperBound
    }
    return bytes + source.bytes[end...]
  }

  // MARK: Changes

  /// Removes a suppression. If it is the only one, also removes the key `allow` or `lint` that
  /// would become empty.
  package func removingSuppression(at position: Position) -> [Edit]? {
    for owner in [root] + operations {
      guard let lint = owner.entry("lint"), let allow = lint.value.entry("allow"),
        let suppressions = allow.value.elements,
        let index = suppressions.firstIndex(where: { $0.position == position })
      else { continue }
      if suppressions.count > 1 { return removingElement(index, of: allow.value).map { [$0] } }
      if lint.value.entries?.count ?? 0 > 1 {
        return removingEntry(allow, of: lint.value).map { [$0] }
      }
      return removingEntry(lint, of: owner).map { [$0] }
    }
    return nil
  }

  /// Sets keys of an operation. Appends the keys that do not exist.
  ///
  /// - Parameter replaced: an existing key that the first new key replaces.
  package func setting(
    _ values: [(key: String, value: String)], ofOperation index: Int, inPlaceOf replaced: String
  ) -> [Edit]? {
    guard operations.indices.contains(index),
      let node = operations[index].entries?.first(where: { $0.key.text != "lint" })?.value
    else { return nil }
    return setting(values, of: node, inPlaceOf: replaced)
  }

  /// Sets keys of the mapping that begins at a position. Appends the keys that do not exist.
  package func setting(
    _ values: [(key: String, value: String)], ofMappingAt position: Position
  ) -> [Edit]? {
    root.mapping(at: position).flatMap { setting(values, of: $0) }
  }

  /// Adds an operation after the last one.
  package func appending(operation text: String) -> [Edit]? {
    guard let list = root["operations"], let last = list.elements?.last else {
      return nil
    }
    if let end = list.end {
      return [Edit(range: closing(end), text: ", { \(text.drop { "- ".contains($0) }) }")]
    }
    guard let start = source.offset(of: last.position), let dash = dash(before: start) else {
      return nil
    }
    return [added("\(text)", column: column(dash), behind: last)]
  }

  // MARK: Nodes

  private var operations: [Node] { root.elements("operations") }

  private func setting(
    _ values: [(key: String, value: String)], of node: Node, inPlaceOf replaced: String? = nil
  ) -> [Edit]? {
    var edits: [Edit] = []
    var new: [String] = []
    for (key, value) in values {
      if let old = node[key] {
        guard let range = range(of: old) else { return nil }
        edits.append(Edit(range: range, text: value))
      } else {
        new.append("\(key): \(value)")
      }
    }
    if let entry = replaced.flatMap(node.entry), !new.isEmpty {
      let range = entry.key.range.lowerBound..<endOfContent(entry.value)
      edits.append(Edit(range: range, text: new.removeFirst()))
    }
    guard !new.isEmpty else { return edits }
    if let end = node.end {
      return edits + [Edit(range: closing(end), text: ", " + new.joined(separator: ", "))]
    }
    guard let last = node.entries?.last, let first = node.entries?.first else { return nil }
    let addition = added(
      new.joined(separator: "\n"), column: first.key.position.column, behind: last.value)
    // The addition starts at the end of a line, so that it does not overlap the new value of the
    // last key.
    return edits + [addition]
  }

  /// The range of a value; nil for a block scalar, a block mapping and a block sequence.
  private func range(of node: Node) -> Range<Int>? {
    if let scalar = node.scalar {
      return [.literal, .folded].contains(scalar.style) ? nil : scalar.range
    }
    return node.end.flatMap { end in source.offset(of: node.position).map { $0..<end } }
  }

  /// The empty range before a closing bracket and the white space in front of it.
  private func closing(_ end: Int) -> Range<Int> {
    var place = end - 1
    while place > 0, source.bytes[place - 1].isWhiteSpace { place -= 1 }
    return place..<place
  }

  /// Inserts lines after the line on which a node ends.
  private func added(_ lines: String, column: Int, behind node: Node) -> Edit {
    let end = endOfLine(endOfContent(node))
    let space = String(repeating: " ", count: column - 1)
    let text = lines.split(separator: "\n").map { "\(lineEnd)\(space)\($0)" }.joined()
    return Edit(range: end..<end, text: text)
  }

  private func endOfContent(_ node: Node) -> Int {
    switch node.content {
    case .scalar(let scalar): trimmed(scalar.range)
    case .sequence(let elements):
      node.end ?? elements.last.map(endOfContent) ?? source.offset(of: node.position) ?? 0
    case .mapping(let entries):
      node.end ?? entries.last.map { endOfContent($0.value) } ?? source.offset(of: node.position)
        ?? 0
    }
  }

  /// The end of a scalar's text. The range of a block scalar includes the empty lines after it.
  private func trimmed(_ range: Range<Int>) -> Int {
    var end = range.upperBound
    while end > range.lowerBound, source.bytes[end - 1].isWhiteSpace { end -= 1 }
    return end
  }

  private func removingElement(_ index: Int, of list: Node) -> Edit? {
    guard let elements = list.elements, let start = source.offset(of: elements[index].position)
    else { return nil }
    if list.end != nil { return removingPart(index, of: elements.map { ($0, $0) }) }
    return dash(before: start).flatMap { removingLines($0, elements[index]) }
  }

  private func removingEntry(_ entry: Node.Entry, of mapping: Node) -> Edit? {
    guard let entries = mapping.entries,
      let index = entries.firstIndex(where: { $0.keyNode.position == entry.keyNode.position }),
      entries.count > 1
    else { return nil }
    if mapping.end != nil {
      return removingPart(index, of: entries.map { ($0.keyNode, $0.value) })
    }
    return removingLines(entry.key.range.lowerBound, entry.value)
  }

  /// Removes an element of a list or a mapping in brackets, with its comma.
  private func removingPart(_ index: Int, of parts: [(first: Node, last: Node)]) -> Edit? {
    guard let start = source.offset(of: parts[index].first.position) else { return nil }
    let end = endOfContent(parts[index].last)
    if index + 1 < parts.count {
      return source.offset(of: parts[index + 1].first.position).map {
        Edit(range: start..<$0, text: "")
      }
    }
    return Edit(range: endOfContent(parts[index - 1].last)..<end, text: "")
  }

  /// Removes whole lines; nil if other text precedes the element on its first line.
  private func removingLines(_ start: Int, _ node: Node) -> Edit? {
    let line = startOfLine(start)
    guard source.bytes[line..<start].allSatisfy(\.isBlank) else { return nil }
    return Edit(range: line..<startOfNextLine(endOfContent(node)), text: "")
  }

  // MARK: Bytes

  private func startOfLine(_ offset: Int) -> Int {
    (source.bytes[..<offset].lastIndex(of: .lineFeed) ?? -1) + 1
  }

  private func endOfLine(_ offset: Int) -> Int {
    source.bytes[offset...].firstIndex(where: \.isLineBreak) ?? source.bytes.count
  }

  private func startOfNextLine(_ offset: Int) -> Int {
    source.bytes[offset...].firstIndex(of: .lineFeed).map { $0 + 1 } ?? source.bytes.count
  }

  private func column(_ offset: Int) -> Int { source.position(ofByte: offset).column }

  /// The offset of the `-` in front of an element that begins at `offset`.
  private func dash(before offset: Int) -> Int? {
    guard let dash = source.bytes[..<offset].lastIndex(where: { !$0.isBlank }),
      source.bytes[dash] == UInt8(ascii: "-")
    else { return nil }
    return dash
  }
}

extension Node {
  fileprivate func mapping(at place: Position) -> Node? {
    if entries != nil, position == place { return self }
    let children = (elements ?? []) + (entries ?? []).map(\.value)
    return children.lazy.compactMap { $0.mapping(at: place) }.first
  }
}
