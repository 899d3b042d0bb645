import SchemaSQLText

/// A random schema whose statements have many equivalent spellings.
///
/// In its templates, a name is `‹name›` where it is defined, and `«name»` where it is used. A no-break space
/// marks a space that no comment may replace: SQLite 3.40 reads a comment in or before GENERATED ALWAYS as a
/// part of the type.
package struct GeneratedSchema {
  package private(set) var tables: [GeneratedTable] = []
  package private(set) var others: [String] = []

  package init(using generator: inout SeededGenerator, tables count: Int = 4) {
    let names = ["notes", "Tags", "order", "a b", "Grüße", "quo\"te", "semi;colon", "left"]
      .shuffled(using: &generator)
    for name in names.prefix(count) {
      tables.append(GeneratedTable(name, parents: tables, using: &generator))
    }
    for (index, table) in tables.enumerated() {
      let column = generator.pick(table.columns).name
      let other = generator.pick(table.columns).name
      if generator.chance(60) {
        others.append(
          "CREATE \(generator.pick(["", "UNIQUE "]))INDEX ‹i\(index)› ON «\(table.name)»(«\(column)» "
            + "\(generator.pick(["", "COLLATE NOCASE", "DESC"])), coalesce(«\(other)», 'It''s'))"
            + generator.pick(["", " WHERE «\(column)» IS NOT NULL AND «\(other)» <> 'X'"]))
      }
      if generator.chance(40) {
        others.append(
          "CREATE VIEW ‹v\(index)› AS SELECT «\(column)», «\(other)» AS ‹out› FROM «\(table.name)» "
            + "WHERE «\(column)» = 'Text' OR «\(other)» == 1")
      }
      if generator.chance(40) {
        others.append(
          "CREATE TRIGGER ‹t\(index)› \(generator.pick(["AFTER", "BEFORE"])) UPDATE OF «\(column)» "
            + "ON «\(table.name)» WHEN new.«\(column)» IS NOT old.«\(column)» BEGIN "
            + "DELETE FROM «\(table.name)» WHERE «\(other)» = CASE WHEN 1 THEN ';' END ; "
            + "SELECT RAISE(ABORT, 'No; never') ; END")
      }
    }
  }

  /// The usual spelling, with inline constraints where possible.
  package var plain: String {
    (tables.map { $0.template { _ in true } } + others).map(plainSQL).joined(separator: ";\n")
  }

  /// Returns an equivalent spelling with other quotes, letter case, white space, comments and positions of
  /// constraints.
  package func respelled(using generator: inout SeededGenerator) -> String {
    var templates: [String] = []
    for table in tables { templates.append(table.template { _ in generator.chance(50) }) }
    return (templates + others).map { Respelling($0, using: &generator).sql }
      .joined(separator: ";\n")
  }
}

package struct GeneratedTable {
  package struct Column {
    let name: String
    let clauses: String
    /// The constraints that can be column constraints or table constraints.
    let constraints: [(inline: String, ofTable: String)]
  }

  package let name: String
  package private(set) var columns: [Column] = []
  package let options: String

  package init(_ name: String, parents: [GeneratedTable], using generator: inout SeededGenerator) {
    self.name = name
    let isStrict = generator.chance(20)
    let isWithoutRowid = generator.chance(20)
    options = [isStrict ? "STRICT" : "", isWithoutRowid ? "WITHOUT ROWID" : ""]
      .filter { !$0.isEmpty }.joined(separator: " , ")
    let key = generator.pick(["INTEGER", "INT", "TEXT"])
    let autoincrement =
      key == "INTEGER" && !isWithoutRowid && generator.chance(50) ? " AUTOINCREMENT" : ""
    let conflict = generator.pick(["", " ON CONFLICT IGNORE"])
    columns.append(
      Column(
        name: "Id", clauses: key,
        constraints: [
          (
            "PRIMARY KEY\(conflict)\(autoincrement)",
            "PRIMARY KEY («Id»\(autoincrement))\(conflict)"
          )
        ]))
    let names = ["title", "Where", "a;b", "x y", "größe", "true", "desc", "br]acket"]
    for name in names.shuffled(using: &generator).prefix(Int.random(in: 1...6, using: &generator)) {
      columns.append(column(name, isStrict, parents, &generator))
    }
  }

  private func column(
    _ name: String, _ isStrict: Bool, _ parents: [GeneratedTable],
    _ generator: inout SeededGenerator
  ) -> Column {
    var clauses = generator.pick(
      isStrict ? ["TEXT", "ANY"] : ["", "TEXT", "VARCHAR ( 10 )", "ANY"])
    let literal = generator.pick(["'It''s'", "-1", "1.5", "x'00FF'", "NULL", "TRUE", "( 1 + 1 )"])
    if generator.chance(15) {
      clauses +=
        "\u{A0}GENERATED\u{A0}ALWAYS AS (coalesce(«Id», 'Gen')) "
        + generator.pick(["VIRTUAL", "STORED"])
    } else if generator.chance(50) {
      clauses += " DEFAULT " + literal
    }
    if generator.chance(30) {
      clauses += " NOT NULL" + generator.pick(["", " ON CONFLICT REPLACE"])
    }
    if generator.chance(30) { clauses += " COLLATE " + generator.pick(["NOCASE", "RTRIM"]) }
    var constraints: [(inline: String, ofTable: String)] = []
    if generator.chance(25) {
      let conflict = generator.pick(["", " ON CONFLICT FAIL"])
      constraints.append(("UNIQUE\(conflict)", "UNIQUE («\(name)»)\(conflict)"))
    }
    if generator.chance(30) {
      let label = generator.pick(["", "CONSTRAINT «c» "])
      let check = "\(label)CHECK («\(name)» <> 'No' AND «Id» > 0)"
      constraints.append((check, check))
    }
    if generator.chance(40), !parents.isEmpty {
      let reference =
        "REFERENCES «\(generator.pick(parents).name)»"
        + generator.pick(["", " («Id»)"]) + generator.pick(["", " ON DELETE CASCADE"])
        + generator.pick(["", " ON UPDATE SET NULL"])
        + generator.pick(["", " DEFERRABLE INITIALLY DEFERRED"])
      constraints.append((reference, "FOREIGN KEY («\(name)») \(reference)"))
    }
    return Column(name: name, clauses: clauses, constraints: constraints)
  }

  package func template(isInline: (Int) -> Bool) -> String {
    var ofTable: [String] = []
    var lines: [String] = []
    for (index, column) in columns.enumerated() {
      var line = "‹\(column.name)› \(column.clauses)"
      for constraint in column.constraints {
        if isInline(index) {
          line += " " + constraint.inline
        } else {
          ofTable.append(constraint.ofTable)
        }
      }
      lines.append(line)
    }
    return "CREATE TABLE ‹\(name)› (\((lines + ofTable).joined(separator: " , "))) \(options)"
  }
}

/// Returns the SQL of a template with the simplest possible quotes for its names.
package func plainSQL(_ template: String) -> String {
  render(template) { name, _ in
    Quoting.identifier(name)
  } text: {
    $0
  }
}

private struct Respelling {
  let sql: String

  init(_ template: String, using generator: inout SeededGenerator) {
    var random = generator
    sql = render(template) { name, isGiven in
      Self.quoted(isGiven ? name : Self.recased(name, &random), &random)
    } text: { text in
      Self.respelled(text, &random)
    }
    generator = random
  }

  private static func quoted(_ name: String, _ generator: inout SeededGenerator) -> String {
    var spellings = [Quoting.identifier(name), Quoting.quoted(name)]
    if !name.contains("]") { spellings.append("[\(name)]") }
    spellings.append("`\(name)`")
    return generator.pick(spellings)
  }

  private static func recased(_ text: String, _ generator: inout SeededGenerator) -> String {
    generator.chance(50)
      ? text
      : String(
        decoding: text.utf8.map { byte in
          let isLetter = (65...90).contains(byte & 0xDF)
          return isLetter && generator.chance(50) ? byte ^ 32 : byte
        }, as: UTF8.self)
  }

  /// Changes case and white space outside of strings.
  private static func respelled(_ text: String, _ generator: inout SeededGenerator) -> String {
    text.split(separator: "'", omittingEmptySubsequences: false).enumerated().map { index, part in
      guard index.isMultiple(of: 2) else { return String(part) }
      return recased(String(part), &generator).map { character in
        guard character == " " else { return String(character) }
        return generator.pick([" ", "\n\t", " /* ' \" ; */ ", " -- ) '\n"])
      }.joined()
    }.joined(separator: "'")
  }
}

private func render(
  _ template: String, name: (_ name: String, _ isGiven: Bool) -> String, text: (String) -> String
) -> String {
  var result = ""
  var rest = template[...]
  while let start = rest.firstIndex(where: { $0 == "‹" || $0 == "«" }),
    let end = rest[start...].firstIndex(where: { $0 == "›" || $0 == "»" })
  {
    result += text(String(rest[..<start]))
    result += name(String(rest[rest.index(after: start)..<end]), rest[start] == "‹")
    rest = rest[rest.index(after: end)...]
  }
  return (result + text(String(rest))).replacing("\u{A0}", with: " ")
}
