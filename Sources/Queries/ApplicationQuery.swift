import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// A statement of the application, with its position.
package struct ApplicationQuery: Sendable {
  package let file: String
  package let sql: String
  /// The statements of `connection.sql` before this one. Nil for a statement of another file, which
  /// does not depend on other statements.
  let preparation: [String]?
  /// The suppressions from comments before the statement.
  package let suppressions: [Suppression]
  /// The offset of the statement in the file, in bytes.
  private let offset: Int
  private let source: SQLSource

  /// The name of the file without its folder.
  package var name: String { file.split(separator: "/").last.map(String.init) ?? file }

  package var position: Position { position(ofByte: 0) }

  /// The byte offset of the name that SQLite's message contains, for errors without an offset.
  package func offset(ofNameIn message: String) -> Int? {
    guard let name = message.split(separator: " ").last?.split(separator: ".").last,
      message.hasPrefix("no such ")
    else { return nil }
    return TokenizedSQL(sql).identifiers(in: 0..<sql.utf8.count)
      .first { $0.text.identifier == String(name).identifier }?.range.lowerBound
  }

  /// The position in the file of a byte of the statement.
  package func position(ofByte byte: Int) -> Position { source.position(ofByte: offset + byte) }
}

extension ApplicationQuery {
  /// The statements of a file. If suppressions precede no statement, the last element contains them
  /// and has no SQL.
  ///
  /// - Throws: a failure (65) at a comment for schemactl that is not a suppression.
  package static func all(in file: QueryFile) throws(Failure) -> [ApplicationQuery] {
    let source = SQLSource(file: file.text)
    let sql = TokenizedSQL(file.text)
    let statements = statements(of: sql)
    let suppressions = try QuerySuppression.all(in: sql, file.path, source)
    let owners = suppressions.map { suppression in
      statements.firstIndex { $0.upperBound > suppression.lineStart }
    }
    func query(_ index: Int?, _ range: Range<Int>) -> ApplicationQuery {
      ApplicationQuery(
        file: file.path, sql: sql.text(range),
        preparation: file.isConnectionSQL ? statements.prefix(index ?? 0).map(sql.text) : nil,
        suppressions: zip(suppressions, owners).filter { $1 == index }.map(\.0.suppression),
        offset: range.lowerBound, source: source)
    }
    return statements.enumerated().map(query)
      + (owners.contains(nil) ? [query(nil, sql.bytes.count..<sql.bytes.count)] : [])
  }

  /// The byte ranges of the statements. A range starts at the first word and excludes the
  /// semicolon.
  private static func statements(of sql: TokenizedSQL) -> [Range<Int>] {
    var tokens = sql.significant[...]
    var statements: [Range<Int>] = []
    while !tokens.isEmpty {
      var statement = sql.popStatement(&tokens)
      if statement.last.map(sql.text) == ";" { statement.removeLast() }
      guard let first = statement.first, let last = statement.last else { continue }
      statements.append(first.range.lowerBound..<last.range.upperBound)
    }
    return statements
  }
}
