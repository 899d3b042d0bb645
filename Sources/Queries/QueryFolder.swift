import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaSQLText

/// A file with statements of the application.
package struct QueryFile: Sendable, Hashable {
  /// The path of the file. It begins with the folder as the user named it.
  package let path: String
  package let text: String
  /// Whether the file is `connection.sql`, whose statements depend on the statements before them.
  let isConnectionSQL: Bool

  package init(path: String, text: String, isConnectionSQL: Bool = false) {
    self.path = path
    self.text = text
    self.isConnectionSQL = isConnectionSQL
  }
}

/// A folder of `.sql` files.
package struct QueryFolder: Sendable {
  /// The maximum size of a file in bytes.
  package static let fileSizeLimit = 8 * 1_048_576

  package let path: String
  /// Whether the user named the folder; the default folder may be missing.
  private let isNamed: Bool

  package init(_ path: String) {
    self.path = path
    isNamed = true
  }

  /// The default folder: `queries` beside the migrations.
  package init(besideMigrations folder: String) {
    var path = folder
    while path.count > 1, path.last == "/" { path.removeLast() }
    self.path = joinedPath(path.lastIndex(of: "/").map { String(path[...$0]) } ?? "", "queries")
    isNamed = false
  }

  /// The files of the folder whose names end in `.sql`, regardless of case, sorted by name. Nil if
  /// no folder was named and the default folder does not exist.
  ///
  /// - Throws: an error with every file that cannot be read as UTF-8.
  package func files() throws -> [QueryFile]? {
    var files: [QueryFile] = []
    var diagnostics: [Diagnostic] = []
    let names: [[UInt8]]
    do throws(FileError) {
      names = try folderNames(path).filter(isSQLFile)
    } catch {
      if !isNamed, error.isMissing { return nil }
      throw error
    }
    for name in names {
      let file = joinedPath(path, String(decoding: name, as: UTF8.self))
      func report(_ message: String, at position: Position? = nil) {
        diagnostics.append(Diagnostic(file: file, position: position, message: message))
      }
      guard String(validating: name, as: UTF8.self) != nil else {
        report("the name is not UTF-8")
        continue
      }
      do throws(FileError) {
        let bytes = withoutMark(try readFile(file, inFolder: path, limit: Self.fileSizeLimit))
        if let text = String(validating: bytes, as: UTF8.self) {
          files.append(QueryFile(path: file, text: text))
        } else {
          report("the file is not UTF-8: save it as UTF-8", at: firstFault(in: bytes))
        }
      } catch {
        guard error.isOfFile else { throw error }
        report(error.message)
      }
    }
    guard diagnostics.isEmpty else { throw InvalidInput(diagnostics) }
    return files
  }

  /// The files and the `connection.sql` of the migrations, if it exists. Nil if neither
  /// `connection.sql` nor the default folder exists.
  package func files(
    besideConnectionSQLOf migrations: MigrationFolder
  ) throws -> [QueryFile]? {
    let files = try files()
    guard let text = try migrations.connectionSQL() else { return files }
    return (files ?? [])
      + [QueryFile(path: migrations.connectionFile, text: text, isConnectionSQL: true)]
  }

  /// The position of the first invalid character.
  private func firstFault(in bytes: [UInt8]) -> Position {
    var (line, column) = (1, 1)
    for character in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if character == "\u{FFFD}" { break }
      if character == "\n" { (line, column) = (line + 1, 1) } else { column += 1 }
    }
    return Position(line: line, column: column)
  }
}
