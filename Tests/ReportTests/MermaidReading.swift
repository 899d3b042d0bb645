import Foundation

/// Parses the part of `erDiagram` in Mermaid's grammar (erDiagram.jison) that all versions support:
/// entities with a label and attributes, and relationships.
struct MermaidReading {
  struct Entity {
    var label: String
    var attributes: [(type: String, name: String, keys: [String], comment: String)] = []
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var entities: [String: Entity] = [:]
  private(set) var relations: [(parent: String, child: String, label: String)] = []

  init(_ text: String) throws {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.removeFirst() == "erDiagram", lines.removeLast().isEmpty else {
      throw Problem(description: "not an erDiagram: \(text)")
    }
    var open: String?
    for line in lines {
      if let id = open {
        if line == "  }" {
          open = nil
        } else {
          entities[id]?.attributes.append(try Self.attribute(line))
        }
      } else if let relation = line.wholeMatch(of: Self.relation) {
        relations.append(
          (String(relation.output.1), String(relation.output.2), String(relation.output.3)))
      } else if let entity = line.wholeMatch(of: Self.entity) {
        let id = String(entity.output.1)
        guard entities[id] == nil, !Self.keywords.contains(id.lowercased()) else {
          throw Problem(description: "an entity cannot be called \(id)")
        }
        entities[id] = Entity(label: entity.output.2.map(String.init) ?? id)
        open = entity.output.3 == nil ? nil : id
      } else {
        throw Problem(description: "neither an entity nor a relationship: \(line)")
      }
    }
    guard open == nil else { throw Problem(description: "an entity without its end") }
  }

  private static func attribute(
    _ line: String
  ) throws -> (type: String, name: String, keys: [String], comment: String) {
    guard let match = line.wholeMatch(of: attributeLine) else {
      throw Problem(description: "not an attribute: \(line)")
    }
    for word in [match.output.1, match.output.2]
    where ["PK", "FK", "UK"].contains(word.uppercased()) {
      throw Problem(description: "a key where a word must be: \(line)")
    }
    let keys = match.output.3.map { $0.split(separator: ", ").map(String.init) } ?? []
    return (
      String(match.output.1), String(match.output.2), keys, match.output.4.map(String.init) ?? ""
    )
  }

  // A string literal in double quotes; entity names allow no percent sign and no backslash.
  private nonisolated(unsafe) static let entity =
    #/  ([A-Za-z_][A-Za-z0-9_()]*)(?:\["([^"%\r\n\\]+)"\])?( \{)?/#
  private nonisolated(unsafe) static let attributeLine =
    #/    ([A-Za-z_][A-Za-z0-9_()]*) ([A-Za-z_][A-Za-z0-9_()]*)(?: ((?:PK|FK|UK)(?:, (?:PK|FK|UK))*))?(?: "([^"\r\n]*)")?/#
  private nonisolated(unsafe) static let relation =
    #/  ([A-Za-z_][A-Za-z0-9_()]*) (?:\|o|\|\|)(?:--|\.\.)(?:o\||o\{) ([A-Za-z_][A-Za-z0-9_()]*) : "([^"%\r\n\\]+)"/#

  private static let keywords: Set<String> = [
    "acctitle", "accdescr", "class", "classdef", "direction", "end", "erdiagram", "many", "one",
    "only", "optionally", "style", "subgraph", "title", "to", "u", "zero",
  ]
}
