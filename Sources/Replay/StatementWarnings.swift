import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// What is odd about a statement, and SQLite itself does not tell of when it runs it.
package struct StatementWarnings: Sendable {
  /// Functions and collations that nobody has declared.
  package internal(set) var missing: [MissingName] = []
  /// A name in double quotes that nothing has, and that SQLite takes for a string.
  package internal(set) var doubleQuotedString: QuotedString?

  package struct QuotedString: Sendable {
    /// With its quotes, as it is written.
    package let text: String
    package let position: Position
  }

  /// It is an UPDATE that reads, row by row, values of its own table that it writes.
  package internal(set) var readsItself = false
}

package enum MissingName: Sendable, Hashable {
  case function(String)
  case collation(String)

  /// From what SQLite says of a statement, a view or a trigger; nil for another message.
  package init?(message: String) {
    for (prefix, make) in [
      ("no such function: ", MissingName.function),
      ("no such collation sequence: ", MissingName.collation),
    ] where message.hasPrefix(prefix) {
      self = make(String(message.dropFirst(prefix.count)))
      return
    }
    return nil
  }
}

extension DatabaseError {
  var missingName: MissingName? { MissingName(message: message) }
}

extension Connection {
  /// - Parameter calls: told of each call; a function fails then.
  func registerStub(of name: MissingName, _ calls: CallRecord?) throws(DatabaseError) {
    switch name {
    case .function(let name):
      try register(
        FunctionDefinition(
          name: name, arguments: -1, isDeterministic: true,
          body: { _ in
            guard let calls else { return .null }
            calls.note(name)
            throw FunctionError("\(name)() is not known here")
          }))
    case .collation(let name):
      try registerCollation(name) { a, b in
        calls?.note(name)
        return a == b ? 0 : a < b ? -1 : 1
      }
    }
  }
}
