import SchemaPlatform
import SchemaSQLText

extension MigrationFolder {
  package static let connectionFileName = "connection.sql"

  package var connectionFile: String { joinedPath(path, Self.connectionFileName) }

  /// What the app runs on each of its connections; nil without the file.
  package func connectionSQL() throws(FileError) -> String? {
    do throws(FileError) {
      let bytes = try readFile(connectionFile, limit: 1_048_576)
      guard isUTF8(bytes) else {
        throw FileError(path: connectionFile, systemError: 0, message: "is not UTF-8")
      }
      return String(decoding: bytes, as: UTF8.self)
    } catch  where error.systemError == ENOENT {
      return nil
    }
  }
}
