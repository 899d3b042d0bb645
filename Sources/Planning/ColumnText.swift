import SchemaSQLText

/// A column's definition with some of its clauses replaced. Unchanged clauses keep every byte.
struct ColumnText {
  private let table: ParsedTable
  private let column: CreateTable.Column
  private var replacements: [(range: Range<Int>, text: String)] = []
  /// Clauses that the column has not had: they follow its type, where no dangling CONSTRAINT name
  /// can take them for its own.
  private var additions: [String] = []

  init(_ column: CreateTable.Column, of table: ParsedTable) {
    self.table = table
    self.column = column
  }

  /// The table's whole text with the column's new definition in it.
  var tableText: String {
    let place = (column.type?.range ?? column.name.range).upperBound
    let added = [(range: place..<place, text: additions.map { " " + $0 }.joined())]
    let edits = (added + replacements).sorted {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    }
    var bytes: [UInt8] = []
    var position = 0
    for edit in edits {
      bytes += table.tokens.bytes[position..<edit.range.lowerBound] + Array(edit.text.utf8)
      position = edit.range.upperBound
    }
    return String(decoding: bytes + table.tokens.bytes[position...], as: UTF8.self)
  }

  mutating func setType(_ type: String?) {
    switch (column.type, type) {
    case (let old?, let new?): replacements.append((old.range, new))
    case (let old?, nil):
      replacements.append((column.name.range.upperBound..<old.range.upperBound, ""))
    case (nil, let new?): additions.insert(new, at: 0)
    case (nil, nil): break
    }
  }

  /// Writes the clause in place of the first one of its kind, and takes the others away; nil takes
  /// all away. The name that CONSTRAINT gives the first one stays.
  mutating func set(
    _ clause: String?, inPlaceOf isKind: (CreateTable.ColumnConstraint.Kind) -> Bool
  ) {
    var clause = clause
    for constraint in column.constraints where isKind(constraint.kind) {
      guard let text = clause else {
        remove(constraint.range)
        continue
      }
      let name = constraint.name.map { "CONSTRAINT \(table.tokens.text($0.range)) " } ?? ""
      replacements.append((constraint.range, name + text))
      clause = nil
    }
    if let clause { additions.append(clause) }
  }

  /// With the white space before it.
  private mutating func remove(_ range: Range<Int>) {
    let before = table.tokens.tokens.last { $0.range.upperBound <= range.lowerBound }
    let isSpace = before.map { $0.kind == .whitespace && $0.range.upperBound == range.lowerBound }
    let start = isSpace == true ? before?.range.lowerBound : nil
    replacements.append(((start ?? range.lowerBound)..<range.upperBound, ""))
  }
}
