import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaYAML

/// A renamed column or table, which keeps its rows. Only a person can distinguish a renamed object from a
/// dropped one and a new one.
package struct SchemaRenaming: Sendable, Hashable {
  /// The old name of the column; nil if the table is renamed.
  package let column: String?
  package let table: String
  package let to: String

  /// Parses a renaming.
  ///
  /// - Parameter text: `table.old=new` or `table=new`, with names as in SQL.
  package init?(_ text: String) {
    let tokens = TokenizedSQL(text)
    func isName(_ token: Token) -> Bool { [.word, .quotedIdentifier].contains(token.kind) }
    let names = tokens.significant.filter(isName).map { Quoting.unquoted(tokens.text($0)) }
    let form = tokens.significant.map { isName($0) ? "n" : tokens.text($0) }
    guard ["n=n", "n.n=n"].contains(form.joined()), names.allSatisfy({ !$0.isEmpty }) else {
      return nil
    }
    table = names[0]
    column = names.count == 3 ? names[1] : nil
    to = names[names.count - 1]
  }

  private init(table: String, column: String, to: String) {
    self.table = table
    self.column = column
    self.to = to
  }

  /// The text that `init(_:)` parses into this renaming.
  package var text: String {
    [table, column].compactMap(\.self).map { Quoting.identifier($0) }.joined(separator: ".") + "="
      + Quoting.identifier(to)
  }
}

/// A dropped column and a new one that may be the same column under another name.
package struct PossibleRenaming: Sendable {
  package let renaming: SchemaRenaming
  /// The columns whose values are lost if the user does not declare the renaming.
  package let gone: [String]

  package var sentence: String {
    gone.map { "`\($0)`" }.abridged(to: 10).joined(separator: ", ")
      + " of `\(renaming.table)` will be dropped with all values, and `\(renaming.to)` is new: if "
      + "you mean a renamed column, add `--rename \(renaming.text)`"
  }
}

extension SchemaRenaming {
  /// Finds at most one possible renamed column of each table. All of the returned renamings together still
  /// lead to the wanted schema.
  ///
  /// - Parameter said: the renamings that the user has declared.
  package static func possible(
    from: Schema, to wanted: Schema, besides said: [SchemaRenaming], _ application: Application
  ) -> [PossibleRenaming] {
    var possible: [PossibleRenaming] = []
    for one in guesses(from: from, to: wanted, besides: said) {
      let renamings = said + possible.map(\.renaming) + [one.renaming]
      let operations = try? SchemaTransition.operations(
        from: from, to: wanted, renaming: renamings, application)
      if operations != nil { possible.append(one) }
    }
    return possible
  }

  private static func guesses(
    from: Schema, to wanted: Schema, besides said: [SchemaRenaming]
  ) -> [PossibleRenaming] {
    from.tables.compactMap { old in
      guard let new = wanted.table(old.name), let before = old.columns, let after = new.columns
      else {
        return nil
      }
      let renamed = said.filter { $0.table.identifier == old.name.identifier }
      let known = Set((before + renamed.map(\.to)).map(\.identifier))
      let gone = before.filter { name in
        !after.contains { $0.identifier == name.identifier }
          && !renamed.contains { $0.column?.identifier == name.identifier }
      }
      guard let first = gone.first,
        let added = after.first(where: { !known.contains($0.identifier) })
      else { return nil }
      return PossibleRenaming(
        renaming: SchemaRenaming(table: old.name, column: first, to: added), gone: gone)
    }
  }
}

extension SchemaObject {
  /// The names of a table's columns; nil for a virtual table.
  package var columns: [String]? { createTable?.columns.map(\.name.text) }
}
